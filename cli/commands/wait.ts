import { command } from '../command.ts'
import type { Values } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { environmentName, target, waitTimeout } from '../options/target.ts'
import { tolerateFailures } from '../options/tolerate-failures.ts'

const options = { ...loading, name: environmentName, ...target, timeout: waitTimeout, tolerateFailures }

/** Options of `wait`. */
export type WaitValues = Values<typeof options>

export const wait = command({
  name: 'wait',
  group: 'Deploy',
  isSecondary: true,
  summary: 'Wait until services are ready and Jobs complete',
  description: `Waits until all services, or the named ones, are ready, and until Jobs are complete. Changes nothing. The exit status is 0 when they are, and 1 when one of them fails, or is not ready in time; the reason is printed as in a deploy.`,
  words: [{ name: '[service...]', description: 'only these services (default: all)', completes: 'service' }],
  options,
  examples: [{ line: 'devctl wait migrate --timeout 10m', does: 'wait up to ten minutes until a Job is complete' }],
  async run(context, services, options) {
    const { waitForServices } = await import('../run/wait.ts')
    return waitForServices(context, services, options)
  },
})
