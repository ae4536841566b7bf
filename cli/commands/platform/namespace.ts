import { type Argument, command } from '../../command.ts'
import { duration } from '../../options/duration.ts'
import { choice, flag } from '../../options/option.ts'
import { output } from '../../options/output.ts'

export const namespace = command({
  name: 'namespace',
  group: 'Platform',
  summary: 'Set the namespace for all commands',
  description: `Sets the namespace of the current context. Without a subcommand, asks for it on a terminal; on a platform, it can be a new one.

On clusters with the platform installed, devctl can also create, delete and list namespaces.`,
  options: {},
  async run(context) {
    const { chooseNamespace } = await import('../../run/platform/namespace.ts')
    return chooseNamespace(context)
  },
})

const name: Argument = { name: '<name>', description: 'name of the namespace', completes: 'namespace' }
const PLATFORM = 'Requires a cluster with the platform installed.'

export const namespaceUse = command({
  name: 'namespace use',
  summary: 'Set the namespace of the current context',
  words: [name],
  options: {},
  async run(context, [name]) {
    const { switchNamespace } = await import('../../run/platform/namespace.ts')
    return switchNamespace(context, name!)
  },
})

export const namespaceCreate = command({
  name: 'namespace create',
  summary: 'Create a namespace and switch to it',
  description: `Creates a namespace and switches to it. ${PLATFORM}`,
  words: [{ name: '<name>', description: 'name of the namespace' }],
  options: {},
  async run(context, [name]) {
    const { createNamespace } = await import('../../run/platform/namespace.ts')
    return createNamespace(context, name!)
  },
})

export const namespaceDelete = command({
  name: 'namespace delete',
  summary: 'Delete a namespace',
  description: `Deletes a namespace with everything in it, and waits until it is gone. Before that, a job in the cluster destroys what earlier jobs have deployed there, so that the \`destroy\` commands of its manifest are run. Your personal namespace is only emptied. ${PLATFORM}`,
  words: [name],
  options: {
    force: flag('--force', 'do not run the `destroy` commands of manifests, and remove finalizers of other programs'),
    timeout: duration(
      '--timeout <duration>',
      'how long to wait, such as 90s (default: $DEVCTL_TIMEOUT, or 5m); the deletion continues',
    ),
  },
  async run(context, [name], values) {
    const { deleteNamespace } = await import('../../run/platform/namespace.ts')
    return deleteNamespace(context, name!, values)
  },
})

export const namespaceList = command({
  name: 'namespace list',
  summary: 'List the namespaces and their status',
  description: `Lists the namespaces and their status; \`*\` marks the current one. ${PLATFORM}`,
  options: { output: output('text', 'json', 'name') },
  examples: [
    {
      line: 'devctl namespace list --output json | jq -r \'.[] | select(.role == "owner") | .name\'',
      does: 'print the names of your own namespaces',
    },
  ],
  async run(context, _words, { output }) {
    const { listNamespaces } = await import('../../run/platform/namespace.ts')
    return listNamespaces(context, output)
  },
})

export const namespaceShare = command({
  name: 'namespace share',
  summary: 'Share a namespace with someone',
  description: `Makes someone a member of a namespace: a developer can deploy, a viewer can only look. A namespace has one owner. An administrator can make someone else the owner; the previous owner stays a developer. ${PLATFORM}`,
  words: [name, { name: '<user>', description: 'name of the user' }],
  options: { role: choice('--role <role>', 'what they may do', ['developer', 'viewer', 'owner'], 'developer') },
  examples: [
    { line: 'devctl namespace share shop bob', does: 'let bob deploy to the namespace, too' },
    { line: 'devctl namespace share shop bob --role viewer', does: 'let bob see what runs in it' },
  ],
  async run(context, [name, user], { role }) {
    const { shareNamespace } = await import('../../run/platform/namespace-members.ts')
    return shareNamespace(context, name!, user!, role)
  },
})

export const namespaceUnshare = command({
  name: 'namespace unshare',
  summary: 'Remove someone from a namespace',
  description: `Revokes the access that \`devctl namespace share\` granted. ${PLATFORM}`,
  words: [name, { name: '<user>', description: 'name of the user' }],
  options: {},
  async run(context, [name, user]) {
    const { unshareNamespace } = await import('../../run/platform/namespace-members.ts')
    return unshareNamespace(context, name!, user!)
  },
})

const current: Argument = {
  name: '[name]',
  description: 'name of the namespace (default: the current one)',
  completes: 'namespace',
}

export const namespaceSleep = command({
  name: 'namespace sleep',
  summary: 'Stop what runs in a namespace, until it is used again',
  description: `Stops all Pods and CronJobs of a namespace; its data stays. Opening one of its pages wakes it, and so do \`devctl deploy\`, \`devctl up\` and \`devctl namespace wake\`. ${PLATFORM}`,
  words: [current],
  options: {},
  async run(context, [name]) {
    const { sleepNamespace } = await import('../../run/platform/namespace.ts')
    return sleepNamespace(context, name)
  },
})

export const namespaceWake = command({
  name: 'namespace wake',
  summary: 'Start a sleeping namespace again',
  description: `Starts again what sleep has stopped. ${PLATFORM}`,
  words: [current],
  options: {},
  async run(context, [name]) {
    const { wakeNamespace } = await import('../../run/platform/namespace.ts')
    return wakeNamespace(context, name)
  },
})
