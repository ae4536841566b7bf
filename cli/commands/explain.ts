import { command } from '../command.ts'

export const explain = command({
  name: 'explain',
  summary: 'Explain the code of a diagnostic; without a code, list them all',
  words: [
    {
      name: '[code]',
      description: 'a code such as `services/unknown-key`, or its first part for the list of a family',
    },
  ],
  options: {},
  examples: [{ line: 'devctl explain interpolation/required', does: 'what it means and what to write' }],
  async run({ io }, [code]) {
    const { explainCode } = await import('../run/explain.ts')
    io.stdout.write(await explainCode(code))
    return 0
  },
})
