import { command } from '../command.ts'

const KINDS = ['manifest', 'compose'] as const

export const schema = command({
  name: 'schema',
  summary: 'Print the JSON Schema of the manifest or of Compose files, for editors',
  description: `Prints a JSON Schema (2020-12) that is made from the tables that check the files, so that an editor says while you type what \`devctl validate\` would say. It knows the structure; references, values and what Kubernetes refuses are for \`devctl validate\`.`,
  words: [{ name: '<kind>', description: 'the kind of file', choices: KINDS }],
  options: {},
  examples: [
    {
      line: 'devctl schema manifest > .devctl.schema.json',
      does: 'and at the top of devctl.yml: # yaml-language-server: $schema=.devctl.schema.json',
    },
    { line: 'devctl schema compose > compose.schema.json', does: 'Compose files with the keys of devctl' },
  ],
  async run({ io }, [kind]) {
    const { printSchema } = await import('../run/schema.ts')
    // The parser has refused all other words.
    io.stdout.write(printSchema(kind as (typeof KINDS)[number]))
    return 0
  },
})
