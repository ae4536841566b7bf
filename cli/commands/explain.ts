import { command } from '../command.ts'

export const explain = command({
  name: 'explain',
  group: 'Files',
  summary: 'Explain a diagnostic code, or list all codes',
  words: [
    {
      name: '[code]',
      description: 'code, such as `services/unknown-key`, or its first part to list the codes of a family',
      completes: 'code',
    },
  ],
  options: {},
  examples: [
    { line: 'devctl explain interpolation/required', does: 'explain what a code means and how to fix the error' },
    { line: 'devctl explain platform/quota', does: 'explain an error of the platform' },
  ],
  async run({ io }, [code]) {
    const { explainCode } = await import('../run/explain.ts')
    io.stdout.write(await explainCode(code))
    return 0
  },
})
