import { command } from '../command.ts'
import { bash } from '../options/bash.ts'
import { choice, flag, type Values } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { environmentName, target, timeout } from '../options/target.ts'
import { variables } from '../options/variable.ts'

const options = {
  ...loading,
  name: environmentName,
  ...target,
  timeout,
  var: variables,
  volumes: flag('-v, --volumes', 'also delete claims and their data; `-v` is not `--verbose` here'),
  rmi: choice('--rmi <images>', 'accepted, but images stay in the registry', ['all', 'local']),
  all: flag('--all', 'also delete claims and destroy the repositories of `dependencies`'),
  dependencies: flag('--dependencies', 'also destroy the repositories of `dependencies`'),
  yes: flag(
    '-y, --yes',
    'do not ask for confirmation: of `--all`, of deleting cluster-scoped objects, of destroying services that others depend on',
  ),
  wait: flag('--wait', 'wait until everything is deleted'),
  bash,
}

/** Options of `destroy`. */
export type DestroyValues = Values<typeof options>

export const destroy = command({
  name: 'destroy',
  group: 'Deploy',
  summary: 'Delete the application from the cluster',
  description: `Runs the \`destroy\` commands of the manifest, if there is one, and deletes the objects of an environment, including those that deploy commands created. Claims, which hold the data, are kept unless --volumes is given; objects annotated with \`dev.platform/policy: keep\` are always kept. Namespaces and custom resource definitions that commands created are kept while they contain anything else. Cluster-scoped objects are listed and deleted only after confirmation. An interrupted destroy can be run again.

With service names, only objects that no other service uses are deleted. Services that depend on them must be named, too, unless --yes confirms that they lose their dependency. The commands of the manifest are not run.`,
  words: [{ name: '[service...]', description: 'only these services (default: all)', completes: 'service' }],
  options,
  examples: [
    { line: 'devctl destroy --volumes --wait', does: 'destroy the application in this folder and its data' },
    { line: 'devctl destroy worker', does: 'destroy one service and keep the others' },
  ],
  async run(context, services, options) {
    const { destroyApplication } = await import('../run/destroy.ts')
    return destroyApplication(context, services, options)
  },
})
