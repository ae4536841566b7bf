import { command } from '../command.ts'
import { choice, flag } from '../options/option.ts'
import { loading, planning, someServices } from '../options/project.ts'

export const validate = command({
  name: 'validate',
  summary: 'Check the manifest and Compose files, and print what is wrong with them',
  description: `Reads the manifest, compiles the Compose files and prints the diagnostics only, for editors and pipelines. Exit status 1 when there are errors.

As text they go to standard error, as json or sarif to standard output.`,
  words: [someServices],
  options: {
    ...loading,
    ...planning,
    forRepository: flag('--for-repository', 'refuse also what `publish` refuses: values that are secret, or look it'),
    output: choice('--output <form>', 'form of the diagnostics', ['text', 'json', 'sarif'], 'text'),
  },
  examples: [
    { line: 'devctl validate --strict', does: 'fail also on fields that Kubernetes cannot keep' },
    {
      line: 'devctl validate --environment staging --for-repository',
      does: 'before a change is merged that could not be published',
    },
    { line: 'devctl validate --output sarif > devctl.sarif', does: 'for the code scanning of a code host' },
  ],
  async run(context, services, options) {
    const { validateFiles } = await import('../run/validate.ts')
    return validateFiles(context, services, options)
  },
})
