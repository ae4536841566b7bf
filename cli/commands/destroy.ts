import { command } from '../command.ts'
import { duration } from '../duration-option.ts'
import { flag, text } from '../options.ts'
import { loading } from '../project-options.ts'

export const destroy = command({
  name: 'destroy',
  summary: 'Delete from the cluster what deploy made',
  description: `Deletes the objects of an environment. Claims, which hold the data, stay unless --volumes is given; what is annotated \`dev.platform/policy: keep\` always stays. A destroy that was interrupted can be run again.`,
  options: {
    ...loading,
    name: text(
      '--name <name>',
      'name of the environment (default: `name` of the file, else the repository, else the folder)',
    ),
    namespace: text('--namespace <namespace>', 'its namespace (default: $DEVCTL_NAMESPACE, else that of the context)'),
    context: text('--context <name>', 'context to use (default: $DEVCTL_CONTEXT, else the current one)', {
      completes: 'context',
    }),
    timeout: duration(
      '--timeout <duration>',
      'one deadline for all of it, such as 90s (default: $DEVCTL_TIMEOUT, else 5m)',
    ),
    volumes: flag('--volumes', 'delete the claims and their data, too'),
    wait: flag('--wait', 'wait until everything is gone'),
  },
  examples: [{ line: 'devctl destroy --volumes --wait', does: 'the application of this folder, with its data' }],
  async run(context, _words, options) {
    const { destroyApplication } = await import('../destroy-application.ts')
    return destroyApplication(context, options)
  },
})
