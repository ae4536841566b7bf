import { dnsLabel } from '../../../project/checks.ts'
import { command } from '../../command.ts'
import { flag, text } from '../../options/option.ts'
import { output } from '../../options/output.ts'
import { platformContext, timeout } from '../../options/target.ts'
import { tokenFile } from '../../options/token-file.ts'

const scope = {
  namespace: text('-n, --namespace <namespace>', 'those of this namespace (default: of the context)', {
    check: dnsLabel,
    completes: 'namespace',
  }),
  user: flag('--user', 'your own: for what you run, in all namespaces'),
  context: platformContext,
  timeout,
}

const list = { ...scope, output: output('text', 'json', 'name') }

const host = '`git.example.com`, with a port if it has one'

export const credentials = command({
  name: 'credentials',
  group: 'Platform',
  summary: 'Set the credentials with which pipelines on a platform clone repositories',
  description: `A run of \`devctl pipeline\` clones in the cluster. It uses the credential of its namespace for the host of the repository, otherwise that of the person who started it. Passwords are never shown. Requires a cluster with the platform installed.

Without a subcommand, this is the same as \`devctl credentials list\`.`,
  options: list,
  async run(context, _words, options) {
    const { listCredentials } = await import('../../run/platform/credentials.ts')
    return listCredentials(context, options)
  },
})

export const credentialsList = command({
  name: 'credentials list',
  summary: 'List the credentials of a namespace, and your own',
  description: 'Lists hosts and users, with who set them and when. Passwords are never shown.',
  options: list,
  async run(context, _words, options) {
    const { listCredentials } = await import('../../run/platform/credentials.ts')
    return listCredentials(context, options)
  },
})

export const credentialsSet = command({
  name: 'credentials set',
  summary: 'Set the credential for a host',
  description:
    'Sets the credential of the namespace, or your own, for a host of repositories. Asks for the password or token on a terminal without showing it, otherwise reads it from standard input, or from --token-file. Read access is enough.',
  words: [{ name: '<host>', description: host }],
  options: {
    ...scope,
    tokenFile,
    login: text('--login <name>', 'name of the user there (default: `git`, which forges accept with a token)'),
  },
  examples: [
    { line: 'devctl credentials set git.example.com', does: 'ask for a token' },
    {
      line: 'devctl credentials set git.example.com --user --login ann < token.txt',
      does: 'set your own, from a file',
    },
  ],
  async run(context, [word], options) {
    const { setCredential } = await import('../../run/platform/credentials.ts')
    return setCredential(context, word!, options)
  },
})

export const credentialsUnset = command({
  name: 'credentials unset',
  summary: 'Remove the credential for a host',
  words: [{ name: '<host>', description: host }],
  options: scope,
  async run(context, [word], options) {
    const { unsetCredential } = await import('../../run/platform/credentials.ts')
    return unsetCredential(context, word!, options)
  },
})
