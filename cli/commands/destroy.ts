import { command } from '../command.ts'
import { bash } from '../options/bash.ts'
import { flag } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { environmentName, target, timeout } from '../options/target.ts'
import { variables } from '../options/variable.ts'

export const destroy = command({
  name: 'destroy',
  summary: 'Delete from the cluster what deploy made',
  description: `Runs the \`destroy\` commands of the manifest, if there is one, and deletes the objects of an environment, with what commands of deploy made. Claims, which hold the data, stay unless --volumes is given; what is annotated \`dev.platform/policy: keep\` always stays. Namespaces and custom resource definitions that commands made stay while they hold anything else. Objects of the whole cluster are listed and asked for. A destroy that was interrupted can be run again.

With names of services only what these alone have is deleted. Those that depend on them have to be named, too, or --yes says that they are left without; the commands of the manifest are not run.`,
  words: [{ name: '[service...]', description: 'only these services (default: all)', completes: 'service' }],
  options: {
    ...loading,
    name: environmentName,
    ...target,
    timeout,
    var: variables,
    volumes: flag('--volumes', 'delete the claims and their data, too'),
    all: flag('--all', 'the claims, and the repositories that it depends on, too'),
    dependencies: flag('--dependencies', 'destroy the repositories of `dependencies`, too'),
    yes: flag(
      '--yes',
      'do not ask: before `--all`, before deleting objects of the whole cluster, where others depend on a service',
    ),
    wait: flag('--wait', 'wait until everything is gone'),
    bash,
  },
  examples: [
    { line: 'devctl destroy --volumes --wait', does: 'the application of this folder, with its data' },
    { line: 'devctl destroy worker', does: 'one service; the others stay' },
  ],
  async run(context, services, options) {
    const { destroyApplication } = await import('../run/destroy.ts')
    return destroyApplication(context, { ...options, services })
  },
})
