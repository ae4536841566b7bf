import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { choice, flag, list, longFlag, type Option, type Values } from './option.ts'
import { loading, planning } from './project.ts'
import { target, timeout } from './target.ts'
import { variables } from './variable.ts'

const { startOrder: _, includeSecrets: __, ...plan } = planning

/** A whole number. */
function number(flags: string, description: string): Option<number | undefined> {
  const name = longFlag(flags)
  const parse = (value: string) => {
    if (/^\d{1,6}$/.test(value)) return Number(value)
    throw new UsageError(`\`${name}\` is \`${value}\``, { hint: 'use a whole number' })
  }
  return { flags, description, parse }
}

/** What `deploy` and `diff` have in common: what is deployed, where to, and what may be done for it. */
export const deploying = {
  ...loading,
  ...plan,
  // Without a default: what is compared with rendered files has that of `render`.
  startOrder: choice(
    '--start-order <how>',
    'who keeps `depends_on`: waits inside the manifests, or devctl itself (default: client)',
    ['manifest', 'client'],
  ),
  ...target,
  timeout,
  var: variables,
  adopt: flag('--adopt', 'take over objects that are there already and belong to nobody'),
  forceConflicts: flag('--force-conflicts', 'take over fields that another tool applies'),
  takeOver: flag('--take-over', 'deploy although the environment was deployed from another repository or file'),
  pruneLimit: number(
    '--prune-limit <number>',
    'how many workloads may be deleted because they left the files (default: 3, or 30 %)',
  ),
  registryCredentials: flag(
    '--registry-credentials',
    'let the cluster pull with the credentials of your Docker configuration for the registries of the images',
  ),
  rerun: list('--rerun <service>', 'run the Job of this service again although nothing changed; may be repeated'),
}

export type DeployingValues = Values<typeof deploying>
