import { command } from '../command.ts'

export const namespace = command({
  name: 'namespace',
  summary: 'Set the namespace for all commands',
  description: `Sets the namespace of the current context. Without a subcommand, asks for it on a terminal.

On clusters with the platform installed, devctl can also create, delete and list namespaces.`,
  options: {},
  async run(context) {
    const { chooseNamespace } = await import('../run/namespace.ts')
    return chooseNamespace(context)
  },
})

const name = { name: '<name>', description: 'name of the namespace' }
const PLATFORM = 'Requires a cluster with the platform installed.'

export const namespaceUse = command({
  name: 'namespace use',
  summary: 'Set the namespace of the current context',
  words: [name],
  options: {},
  async run(context, [name]) {
    const { useNamespace } = await import('../run/namespace.ts')
    return useNamespace(context, name!)
  },
})

export const namespaceCreate = command({
  name: 'namespace create',
  summary: 'Create a namespace and switch to it',
  description: `Creates a namespace and switches to it. ${PLATFORM}`,
  words: [name],
  options: {},
  async run(context, [name]) {
    const { createNamespace } = await import('../run/namespace.ts')
    return createNamespace(context, name!)
  },
})

export const namespaceDelete = command({
  name: 'namespace delete',
  summary: 'Delete a namespace',
  description: `Runs the \`destroy\` commands of the applications in a namespace, and deletes it. ${PLATFORM}`,
  words: [name],
  options: {},
  async run(context, [name]) {
    const { deleteNamespace } = await import('../run/namespace.ts')
    return deleteNamespace(context, name!)
  },
})

export const namespaceList = command({
  name: 'namespace list',
  summary: 'List the namespaces and their status',
  description: `Lists the namespaces and their status; \`*\` marks the current one. ${PLATFORM}`,
  options: {},
  async run(context) {
    const { listNamespaces } = await import('../run/namespace.ts')
    return listNamespaces(context)
  },
})
