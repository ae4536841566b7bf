import { command } from '../command.ts'
import { duration } from '../duration-option.ts'
import { flag, text } from '../options.ts'
import { loading, planning } from '../project-options.ts'

const { startOrder: _, includeSecrets: __, ...plan } = planning

export const deploy = command({
  name: 'deploy',
  summary: 'Bring the application in the cluster to what the Compose file says',
  description: `Compiles the Compose files and applies the manifests: only what differs is written, in the order of \`depends_on\`, and what left the files is deleted. Claims are never deleted.

Waits for what other services depend on, and with --wait for all; ends as soon as waiting cannot help, and says why a container does not start.`,
  options: {
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
    wait: flag('--wait', 'wait until every workload is ready'),
  },
  examples: [
    { line: 'devctl deploy --wait', does: 'the application of this folder, to the namespace of the current context' },
    { line: 'devctl deploy --namespace shop --domain dev.example.com', does: 'with public routes' },
  ],
  async run(context, _words, options) {
    const { deployApplication } = await import('../deploy-application.ts')
    return deployApplication(context, options)
  },
})
