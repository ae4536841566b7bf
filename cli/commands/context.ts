import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { dnsLabel, dnsName, registryPath } from '../../project/checks.ts'
import { command } from '../command.ts'
import { type Option, text } from '../options/option.ts'
import { output } from '../options/output.ts'
import { tokenFile } from '../options/token-file.ts'

/** `--no-browser`: the value is true unless the option is given. */
const noBrowser: Option<boolean> = {
  flags: '--no-browser',
  description: 'log in to a platform with a code that you type into a browser on any machine',
}

const values = {
  token: text('--token <token>', 'API token of a platform; `-` reads it from standard input'),
  tokenFile,
  browser: noBrowser,
  caFingerprint: text('--ca-fingerprint <sha256>', "fingerprint of the platform's own certificate authority", {
    check: fingerprint,
  }),
  namespace: text('-n, --namespace <namespace>', 'namespace to use in this context', {
    check: dnsLabel,
    completes: 'namespace',
  }),
  builder: text(
    '--builder <url>',
    'image builder: `tcp://HOST:PORT`, `tls://HOST:PORT`, `https://HOST`, `unix:///PATH` or `docker`; `-` removes the setting',
  ),
  domain: text(
    '--domain <domain>',
    'domain for the public routes of `deploy` in this context; `-` removes the setting',
    {
      check: unlessNone(dnsName),
    },
  ),
  registry: text(
    '--registry <host/path>',
    'registry for the images that `deploy` builds in this context; `-` removes the setting',
    {
      check: unlessNone(registryPath),
    },
  ),
}

export const context = command({
  name: 'context',
  group: 'Settings',
  summary: 'Set the cluster and the namespace for all commands',
  description: `A context is a cluster, a user and a namespace. You can use all contexts of the kubeconfig, and platforms by their URL; \`context use\` logs in to these. devctl stores which one is current, and its namespace, in $DEVCTL_HOME (default: ~/.devctl), and does not change the kubeconfig.

A command uses the first of these that is set: the option --context, the environment of the manifest, $DEVCTL_URL (the URL of a platform), $DEVCTL_CONTEXT, the manifest, the current context of devctl, the current context of the kubeconfig. The namespace is chosen in the same order.

Without a subcommand, this is the same as \`devctl context use\`, which asks on a terminal: for one of the contexts, or for the address of a platform, to which it then logs in.`,
  options: values,
  async run(context, _words, options) {
    const { useContext } = await import('../run/context.ts')
    return useContext(context, undefined, options)
  },
})

export const contextUse = command({
  name: 'context use',
  summary: 'Set the current context',
  description: `Sets the current context. For the URL of a platform, it logs in first: a page opens in the browser, with a button to confirm. Over SSH, or with --no-browser, it prints an address to open on any machine, and a code to type there. Programs use --token-file, or set $DEVCTL_URL and $DEVCTL_TOKEN, and need no \`context use\`. The login is stored in $DEVCTL_HOME, readable only by its owner. The namespace is the personal one, unless --namespace names another.`,
  words: [
    {
      name: '[context]',
      description: 'context of the kubeconfig, or URL of a platform (default: ask on a terminal)',
      completes: 'context',
    },
  ],
  options: values,
  examples: [
    { line: 'devctl context use kind-dev --namespace shop', does: 'set the context and the namespace for all folders' },
    { line: 'devctl context use https://platform.example.com', does: 'log in to a platform' },
    {
      line: 'devctl context use https://platform.example.com --token-file token.txt',
      does: 'log in with a token that other programs on this machine cannot see',
    },
    {
      line: 'devctl context use kind-dev --domain dev.example.com --registry registry.example.com/team',
      does: 'set what `deploy` uses if neither its options nor the manifest set it',
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
  options: { output: output('json', 'yaml', 'name') },
  async run(context, _words, { output }) {
    const { showContext } = await import('../run/context.ts')
    return showContext(context, output)
  },
})

export const contextList = command({
  name: 'context list',
  summary: 'List all contexts; `*` marks the current one',
  options: { output: output('text', 'wide', 'json', 'name') },
  async run(context, _words, { output }) {
    const { listContexts } = await import('../run/context.ts')
    return listContexts(context, output)
  },
})

export const contextDelete = command({
  name: 'context delete',
  summary: 'Remove the settings of a context from devctl',
  description: `Removes the settings of a context that devctl has stored. The cluster and the kubeconfig are not changed.

For a platform, this logs out: the login becomes invalid there. If the platform does not answer, the context is deleted anyway, and a warning says where to end the login. A token for programs stays valid.`,
  words: [{ name: '<context>', description: 'name of the context', completes: 'context' }],
  options: {},
  async run(context, [name]) {
    const { forgetContext } = await import('../run/context.ts')
    return forgetContext(context, name!)
  },
})

/** Returns a check that accepts `-` and passes every other value to `check`. */
function unlessNone(check: (value: string, option: string) => void): (value: string, option: string) => void {
  return (value, option) => {
    if (value !== '-') check(value, option)
  }
}

function fingerprint(value: string, option: string): void {
  if (/^(sha256[:/])?([0-9a-f]{2}:?){32}$/i.test(value)) return
  throw new UsageError(`\`${option}\` is \`${value}\``, {
    hint: 'it is the SHA-256 of a certificate: 64 digits, perhaps with colons',
  })
}
