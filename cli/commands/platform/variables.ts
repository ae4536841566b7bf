import { dnsLabel } from '../../../project/checks.ts'
import { command } from '../../command.ts'
import { flag, text } from '../../options/option.ts'
import { output } from '../../options/output.ts'
import { platformContext, timeout } from '../../options/target.ts'

const scope = {
  namespace: text('-n, --namespace <namespace>', 'those of this namespace (default: of the context)', {
    check: dnsLabel,
    completes: 'namespace',
  }),
  user: flag('--user', 'your own, for your deploys in all namespaces'),
  admin: flag('--admin', 'those for everyone, which administrators set'),
  context: platformContext,
  timeout,
}

const PRECEDENCE =
  'Those of a person override those for everyone, and those of the namespace override both. Variables of the shell, of `.env` and of --var override all of them. Requires a cluster with the platform installed.'

const list = {
  ...scope,
  output: output('text', 'json', 'name'),
}

export const variables = command({
  name: 'variables',
  group: 'Platform',
  summary: 'Set variables for everything that is deployed on a platform',
  description: `The platform keeps variables of a namespace, of a person and for everyone. \`deploy\`, \`destroy\`, \`build\` and \`up\` use them in Compose files and commands, on every machine and in pipelines. ${PRECEDENCE}

Without a subcommand, this is the same as \`devctl variables list\`.`,
  options: list,
  async run(context, _words, options) {
    const { listVariables } = await import('../../run/platform/variables.ts')
    return listVariables(context, options)
  },
})

export const variablesList = command({
  name: 'variables list',
  summary: 'List the variables of a namespace, your own and those for everyone',
  description: `Lists the names, with who set them and when. Values are never shown. ${PRECEDENCE}`,
  options: list,
  async run(context, _words, options) {
    const { listVariables } = await import('../../run/platform/variables.ts')
    return listVariables(context, options)
  },
})

export const variablesSet = command({
  name: 'variables set',
  summary: 'Set variables of a namespace, for yourself or for everyone',
  description:
    'Sets variables of the namespace, unless an option says otherwise. The value of a name alone is asked for on a terminal without showing it, otherwise read from standard input. Other programs on this machine can see a value that is written as an argument, and it stays in the history of the shell.',
  words: [{ name: '[variable...]', description: '`NAME`, to be asked for the value, or `NAME=VALUE`' }],
  options: {
    ...scope,
    file: text('-f, --file <path>', 'set all variables of this file, which has the format of `.env`', {
      completes: 'file',
    }),
  },
  examples: [
    { line: 'devctl variables set DB_PASSWORD', does: 'ask for the value' },
    { line: 'devctl variables set DB_PASSWORD < password.txt', does: 'read it from a file' },
    { line: 'devctl variables set --user GREETING=hello', does: 'set one for your deploys in all namespaces' },
    { line: 'devctl variables set --file team.env --namespace shop', does: 'set all of a file' },
  ],
  async run(context, words, options) {
    const { setVariables } = await import('../../run/platform/variables.ts')
    return setVariables(context, words, options)
  },
})

export const variablesUnset = command({
  name: 'variables unset',
  summary: 'Remove variables of a namespace, your own or those for everyone',
  words: [{ name: '<name...>', description: 'names of the variables' }],
  options: scope,
  async run(context, names, options) {
    const { unsetVariables } = await import('../../run/platform/variables.ts')
    return unsetVariables(context, names, options)
  },
})
