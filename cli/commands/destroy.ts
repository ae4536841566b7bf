import { command } from '../command.ts'
import { flag } from '../options.ts'
import { loading } from '../project-options.ts'
import { environmentName, target, timeout } from '../target-options.ts'

export const destroy = command({
  name: 'destroy',
  summary: 'Delete from the cluster what deploy made',
  description: `Deletes the objects of an environment. Claims, which hold the data, stay unless --volumes is given; what is annotated \`dev.platform/policy: keep\` always stays. A destroy that was interrupted can be run again.`,
  options: {
    ...loading,
    name: environmentName,
    ...target,
    timeout,
    volumes: flag('--volumes', 'delete the claims and their data, too'),
    wait: flag('--wait', 'wait until everything is gone'),
  },
  examples: [{ line: 'devctl destroy --volumes --wait', does: 'the application of this folder, with its data' }],
  async run(context, _words, options) {
    const { destroyApplication } = await import('../destroy-application.ts')
    return destroyApplication(context, options)
  },
})
