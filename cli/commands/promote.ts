import { command } from '../command.ts'
import type { Values } from '../options/option.ts'
import { dryRun, forge, publishing, publishOutput, pullRequest, rollback } from '../options/publish.ts'

const { environment: _, image: __, imagesFile: ___, tag: ____, ...others } = publishing

const options = {
  ...others,
  dryRun,
  pullRequest,
  forge,
  rollback,
  output: publishOutput,
}

/** Options of `promote`. */
export type PromoteValues = Values<typeof options>

export const promote = command({
  name: 'promote',
  group: 'GitOps',
  summary: 'Publish the version of one environment to another',
  description: `Reads the source commit of the first environment from the GitOps repository, compiles that commit for the second environment with the tested images of the first, and publishes it as \`devctl publish\` does. No cluster is contacted.`,
  words: [
    { name: '<from>', description: 'environment of devctl.yml to promote from', completes: 'environment' },
    { name: '<to>', description: 'environment of devctl.yml to promote to', completes: 'environment' },
  ],
  options,
  examples: [
    { line: 'devctl promote staging production', does: 'publish the version of staging to production' },
    { line: 'devctl promote staging production --pull-request', does: 'open a pull request for review' },
  ],
  async run(context, [from, to], options) {
    const { promoteApplication } = await import('../run/gitops/promote.ts')
    return promoteApplication(context, from!, to!, options)
  },
})
