import { duration } from './duration.ts'
import { text } from './option.ts'

/** The cluster and the namespace that a command works on (operations/contexts/target.ts). */
export const target = {
  namespace: text(
    '-n, --namespace <namespace>',
    'namespace to work on (default: that of the environment, $DEVCTL_NAMESPACE, that of the manifest or of the context)',
  ),
  context: text(
    '--context <name>',
    'context to use (default: that of the environment, $DEVCTL_CONTEXT, that of the manifest, the current one)',
    { completes: 'context' },
  ),
}

/** The deadline of a command that does a piece of work. */
export const timeout = duration(
  '--timeout <duration>',
  'one deadline for all of it, such as 90s (default: $DEVCTL_TIMEOUT, else 5m)',
)

/** The environment in the cluster that a command is about. */
export const environmentName = text(
  '--name <name>',
  'name of the environment (default: `name` of the file, else the repository, else the folder)',
)
