import { command } from '../command.ts'

const KINDS = ['manifest', 'compose'] as const

export const schema = command({
  name: 'schema',
  group: 'Files',
  summary: 'Print the JSON Schema of the manifest or of Compose files',
  description: `Prints a JSON Schema (2020-12), generated from the tables that validate the files, so that editors can report mistakes while you type. It covers the structure. References, values and what Kubernetes refuses are checked by \`devctl validate\`.`,
  words: [{ name: '<kind>', description: 'kind of file', choices: KINDS }],
  options: {},
  examples: [
    {
      line: 'devctl schema manifest > .devctl.schema.json',
      does: 'add to the top of devctl.yml: # yaml-language-server: $schema=.devctl.schema.json',
    },
    { line: 'devctl schema compose > compose.schema.json', does: 'for Compose files, including the keys of devctl' },
  ],
  async run({ io }, [kind]) {
    const { printSchema } = await import('../run/schema.ts')
    // The parser has already rejected all other values.
    io.stdout.write(printSchema(kind as (typeof KINDS)[number]))
    return 0
  },
})
