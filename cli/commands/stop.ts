import { command } from '../command.ts'
import type { Values } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { environmentName, target, timeout } from '../options/target.ts'

const options = { ...loading, name: environmentName, ...target, timeout }

/** Options of `stop` and `start`. */
export type StopValues = Values<typeof options>

export const stop = command({
  name: 'stop',
  group: 'Deploy',
  summary: 'Stop services and keep their data until they are started again',
  description: `Stops all services, or the named ones: they get no replicas, and CronJobs are suspended. Addresses, volumes and settings stay. \`devctl start\` starts them with the number of replicas that they had, and so does the next deploy. \`devctl ps\` shows them as stopped.

With the name of a run, as \`devctl jobs\` lists it, ends and deletes the run.

Jobs end by themselves, and a DaemonSet cannot be stopped; \`devctl destroy SERVICE\` deletes it.`,
  words: [
    { name: '[service...]', description: 'only these services or runs (default: all services)', completes: 'service' },
  ],
  options,
  examples: [
    { line: 'devctl stop worker', does: 'stop one service' },
    { line: 'devctl stop worker-run-566539a2', does: 'end a run that `devctl run` has started' },
    { line: 'devctl stop && devctl start', does: 'stop and start all services of the application in this folder' },
  ],
  async run(context, services, options) {
    const { stopServices } = await import('../run/stop.ts')
    return stopServices(context, services, options, 'stop')
  },
})

export const start = command({
  name: 'start',
  group: 'Deploy',
  isSecondary: true,
  summary: 'Start services that were stopped',
  description: `Starts all services that \`devctl stop\` has stopped, or the named ones, with the number of replicas that they had, and resumes CronJobs. \`devctl wait\` waits until they are ready.`,
  words: [{ name: '[service...]', description: 'only these services (default: all)', completes: 'service' }],
  options,
  examples: [{ line: 'devctl start worker', does: 'start one service' }],
  async run(context, services, options) {
    const { stopServices } = await import('../run/stop.ts')
    return stopServices(context, services, options, 'start')
  },
})
