import { command } from '../command.ts'
import { flag } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { environmentName, target, timeout } from '../options/target.ts'

export const restart = command({
  name: 'restart',
  summary: 'Restart services: their Pods are made anew',
  description: `Makes the Pods of services anew, of all of them or of those that are named, as their update policies say: the others go on to serve meanwhile. Nothing else changes, and the next deploy finds nothing to do. What others depend on is not restarted with them.

A Job is not restarted; \`devctl deploy --rerun SERVICE\` runs it again.`,
  words: [{ name: '[service...]', description: 'only these services (default: all)', completes: 'service' }],
  options: {
    ...loading,
    name: environmentName,
    ...target,
    timeout,
    wait: flag('--wait', 'wait until every restarted workload is ready'),
  },
  examples: [
    { line: 'devctl restart api --wait', does: 'one service, until it is ready again' },
    { line: 'devctl restart', does: 'all services of this folder' },
  ],
  async run(context, services, options) {
    const { restartApplication } = await import('../run/restart.ts')
    return restartApplication(context, services, options)
  },
})
