import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { dnsLabel, dnsName, registryPath } from '../../operations/project/checks.ts'
import { command } from '../command.ts'
import { choice, text } from '../options/option.ts'

const values = {
  token: text('--token <token>', 'API token of a platform'),
  namespace: text('-n, --namespace <namespace>', 'namespace to use in this context', { check: dnsLabel }),
  builder: text('--builder <url>', 'what builds images: `tcp://HOST:PORT`, `unix://PATH` or `docker`', {
    check: builderAddress,
  }),
  domain: text('--domain <domain>', 'domain of public routes that `deploy` makes in this context; `-` forgets it', {
    check: unlessNone(dnsName),
  }),
  registry: text('--registry <host/path>', 'registry of images that `deploy` builds for this context; `-` forgets it', {
    check: unlessNone(registryPath),
  }),
}

export const context = command({
  name: 'context',
  summary: 'Choose the cluster and the namespace for all commands',
  description: `A context is a cluster, a user and a namespace. Those of the kubeconfig can be used as they are; devctl remembers which one is current, and its namespace, in $DEVCTL_HOME (default: ~/.devctl), and leaves the kubeconfig alone.

A command takes the context of its option --context, else of DEVCTL_CONTEXT, else of the manifest, else the current one, else the current one of the kubeconfig; and the namespace likewise.

Without a subcommand the same as \`devctl context use\`, which asks on a terminal.`,
  options: values,
  async run(context, _words, options) {
    const { useContext } = await import('../run/context.ts')
    return useContext(context, undefined, options)
  },
})

export const contextUse = command({
  name: 'context use',
  summary: 'Set the current context',
  words: [
    { name: '[context]', description: 'a context of the kubeconfig; asked for when left out', completes: 'context' },
  ],
  options: values,
  examples: [
    { line: 'devctl context use kind-dev --namespace shop', does: 'from now on, and in every folder' },
    {
      line: 'devctl context use kind-dev --domain dev.example.com --registry registry.example.com/team',
      does: 'what `deploy` takes where neither its options nor the manifest say more',
    },
  ],
  async run(context, [name], options) {
    const { useContext } = await import('../run/context.ts')
    return useContext(context, name, options)
  },
})

export const contextShow = command({
  name: 'context show',
  summary: 'Print the current context as JSON',
  options: { output: choice('-o, --output <format>', 'format', ['json'], 'json') },
  async run(context) {
    const { showContext } = await import('../run/context.ts')
    return showContext(context)
  },
})

export const contextList = command({
  name: 'context list',
  summary: 'Print all contexts; a `*` marks the current one',
  options: { output: choice('-o, --output <format>', 'other format than a table', ['json', 'name']) },
  async run(context, _words, { output }) {
    const { listContexts } = await import('../run/context.ts')
    return listContexts(context, output)
  },
})

export const contextDelete = command({
  name: 'context delete',
  summary: 'Forget what devctl remembers of a context',
  description: 'Forgets what devctl remembers of a context. The cluster and the kubeconfig stay as they are.',
  words: [{ name: '<context>', description: 'the context', completes: 'context' }],
  options: {},
  async run(context, [name]) {
    const { forgetContext } = await import('../run/context.ts')
    return forgetContext(context, name!)
  },
})

/** A check that lets `-` pass. */
function unlessNone(check: (value: string, option: string) => void): (value: string, option: string) => void {
  return (value, option) => {
    if (value !== '-') check(value, option)
  }
}

function builderAddress(value: string, option: string): void {
  if (value === 'docker' || /^tcp:\/\/[^\s/:@]+:\d+$/.test(value) || /^unix:\/\/\/\S+$/.test(value)) return
  throw new UsageError(`\`${option}\` is \`${value}\``, {
    hint: 'write `tcp://HOST:PORT`, `unix:///PATH` or `docker`',
  })
}
