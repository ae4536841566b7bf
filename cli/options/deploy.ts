import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { choice, flag, list, longFlag, type Option, type Values } from './option.ts'
import { loading, planning } from './project.ts'
import { target, timeout } from './target.ts'
import { variables } from './variable.ts'

const { startOrder: _, includeSecrets: __, ...plan } = planning

/** Returns an option whose value is a whole number. */
function number(flags: string, description: string): Option<number | undefined> {
  const name = longFlag(flags)
  const parse = (value: string) => {
    if (/^\d{1,6}$/.test(value)) return Number(value)
    throw new UsageError(`\`${name}\` is \`${value}\``, { hint: 'use a whole number' })
  }
  return { flags, description, parse }
}

/** Options that `deploy` and `diff` share: what to deploy, the target, and the permitted changes. */
export const deploying = {
  ...loading,
  ...plan,
  // No default here: a diff against rendered files uses the default of `render`.
  startOrder: choice(
    '--start-order <how>',
    'what enforces `depends_on`: the manifests, by init containers, or devctl (default: client)',
    ['manifest', 'client'],
  ),
  ...target,
  timeout,
  var: variables,
  adopt: flag('--adopt', 'adopt existing objects that have no owner'),
  forceConflicts: flag('--force-conflicts', 'take over fields that another field manager applies'),
  takeOver: flag('--take-over', 'deploy even if the environment was deployed from another repository or file'),
  pruneLimit: number(
    '--prune-limit <number>',
    'maximum number of workloads to delete because they are no longer in the files (default: 3, or 30 % if that is more)',
  ),
  registryCredentials: flag(
    '--registry-credentials',
    'let the cluster pull images with the credentials in your Docker configuration for their registries',
  ),
  rerun: list('--rerun <service>', 'run the Job of this service again even if nothing changed; may be repeated', {
    completes: 'service',
  }),
}

export type DeployingValues = Values<typeof deploying>
