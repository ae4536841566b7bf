import { duration } from './duration-option.ts'
import { flag, list, text, type Values } from './options.ts'
import { loading, planning } from './project-options.ts'

const { startOrder: _, includeSecrets: __, ...plan } = planning

/** What `deploy` and `diff` have in common: what is deployed, where to, and what may be done for it. */
export const deploying = {
  ...loading,
  ...plan,
  namespace: text(
    '--namespace <namespace>',
    'namespace to deploy to (default: $DEVCTL_NAMESPACE, else that of the context)',
  ),
  context: text('--context <name>', 'context to use (default: $DEVCTL_CONTEXT, else the current one)', {
    completes: 'context',
  }),
  timeout: duration(
    '--timeout <duration>',
    'one deadline for all of it, such as 90s (default: $DEVCTL_TIMEOUT, else 5m)',
  ),
  adopt: flag('--adopt', 'take over objects that are there already and belong to nobody'),
  forceConflicts: flag('--force-conflicts', 'take over fields that another tool applies'),
  takeOver: flag('--take-over', 'deploy although the environment was deployed from another repository or file'),
  rerun: list('--rerun <service>', 'run the Job of this service again although nothing changed; may be repeated'),
}

export type DeployingValues = Values<typeof deploying>
