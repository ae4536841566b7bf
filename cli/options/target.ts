import { environmentName as isEnvironmentName } from '../../project/checks.ts'
import { duration } from './duration.ts'
import { common, text } from './option.ts'

/** Options for the cluster and namespace of a command (project/contexts/target.ts). */
export const target = common('target', {
  namespace: text(
    '-n, --namespace <namespace>',
    'namespace to use (default: from the environment of the manifest, $DEVCTL_NAMESPACE, the manifest, or the context)',
    { completes: 'namespace' },
  ),
  context: text(
    '--context <name>',
    'context to use (default: from the environment of the manifest, $DEVCTL_CONTEXT, the manifest, or the current context)',
    { completes: 'context' },
  ),
})

/** Option for the platform of a command. */
export const platformContext = {
  ...text('--context <name>', 'platform to use (default: $DEVCTL_CONTEXT, or the current context)', {
    completes: 'context',
  }),
  common: 'target' as const,
}

/** Option `--timeout` of a command that leaves nothing running when it ends. */
export const timeout = {
  ...duration('--timeout <duration>', 'overall timeout, such as 90s (default: $DEVCTL_TIMEOUT, or 5m)'),
  common: 'waiting' as const,
}

/**
 * Option `--timeout` of a command that waits for workloads in the cluster. The workloads continue after the timeout.
 */
export const waitTimeout = {
  ...duration(
    '--timeout <duration>',
    'how long to wait, such as 90s (default: $DEVCTL_TIMEOUT, or 5m); what runs in the cluster continues',
  ),
  common: 'waiting' as const,
}

/** Option for the environment of a command. */
export const environmentName = {
  ...text(
    '--name <name>',
    'name of the environment (default: `name` in the file, or the name of the repository or folder)',
    { check: isEnvironmentName, completes: 'deployed' },
  ),
  common: 'target' as const,
}
