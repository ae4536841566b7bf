import { command } from '../command.ts'
import type { Values } from '../options/option.ts'
import { output } from '../options/output.ts'
import { loading } from '../options/project.ts'
import { environmentName, target } from '../options/target.ts'

const options = {
  ...loading,
  name: environmentName,
  ...target,
  output: output('text', 'wide', 'json', 'yaml', 'name'),
}

/** Options of `jobs`. */
export type JobsValues = Values<typeof options>

export const jobs = command({
  name: 'jobs',
  group: 'Deploy',
  isSecondary: true,
  summary: 'List the jobs in the cluster and their last runs',
  description: `Lists the jobs of the environment with their schedules, next and last runs, and the last three runs of each with status and duration. Services with \`restart: "no"\`, and services with runs that \`devctl run\` has started, are listed, too. With --output wide, all runs that the cluster still knows are listed.

The time of the next run is computed from the schedule, in UTC if it has no time zone.`,
  words: [{ name: '[job...]', description: 'only these jobs or services (default: all)', completes: 'service' }],
  options,
  examples: [
    { line: 'devctl jobs', does: 'list the jobs of the application in this folder' },
    {
      line: 'devctl jobs --output json | jq -r \'.[] | select(.runs[0].state == "failed") | .job\'',
      does: 'list the jobs whose last run has failed',
    },
  ],
  async run(context, words, options) {
    const { showJobs } = await import('../run/jobs.ts')
    return showJobs(context, words, options)
  },
})
