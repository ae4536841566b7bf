import { command } from '../command.ts'
import { dryRun, forge, output, publishing, pullRequest, rollback } from '../options/publish.ts'

const { environment: _, image: __, imagesFile: ___, tag: ____, ...options } = publishing

export const promote = command({
  name: 'promote',
  summary: 'Publish to one environment what another one has',
  description: `Reads from the GitOps repository which commit of the source the first environment has, compiles that commit for the second one, with the digests of the images that the first one runs, and publishes it as \`devctl publish\` does. No cluster is asked.`,
  words: [
    { name: '<from>', description: 'the environment of devctl.yml that has it' },
    { name: '<to>', description: 'the environment that gets it' },
  ],
  options: {
    ...options,
    dryRun,
    pullRequest,
    forge,
    rollback,
    output,
  },
  examples: [
    { line: 'devctl promote staging production', does: 'what runs in staging' },
    { line: 'devctl promote staging production --pull-request', does: 'for review' },
  ],
  async run(context, [from, to], options) {
    const { promoteApplication } = await import('../run/promote.ts')
    return promoteApplication(context, from!, to!, options)
  },
})
