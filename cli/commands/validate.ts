import { command } from '../command.ts'
import { flag, type Values } from '../options/option.ts'
import { output } from '../options/output.ts'
import { loading, planning, someServices } from '../options/project.ts'
import { report } from '../options/report.ts'

const options = {
  ...loading,
  ...planning,
  forRepository: flag('--for-repository', 'also report what `publish` refuses: values that are or look secret'),
  report,
  output: output('text', 'json', 'sarif'),
}

/** Options of `validate`. */
export type ValidateValues = Values<typeof options>

export const validate = command({
  name: 'validate',
  group: 'Files',
  summary: 'Check the manifest and the Compose files',
  description: `Reads the manifest, compiles the Compose files and prints only the diagnostics, for editors and pipelines. The exit status is 1 if there are errors.

Text is printed to standard error, JSON and SARIF to standard output.`,
  words: [someServices],
  options,
  examples: [
    { line: 'devctl validate --strict', does: 'also fail on keys that are dropped or approximated' },
    {
      line: 'devctl validate --environment staging --for-repository',
      does: 'check before a merge that the change can be published',
    },
    { line: 'devctl validate --output sarif > devctl.sarif', does: 'write a report for code scanning' },
  ],
  async run(context, services, options) {
    const { validateFiles } = await import('../run/validate.ts')
    return validateFiles(context, services, options)
  },
})
