import { command } from '../command.ts'
import { flag, type Values } from '../options/option.ts'
import { output } from '../options/output.ts'
import { loading } from '../options/project.ts'
import { environmentName, target } from '../options/target.ts'

const options = {
  ...loading,
  name: environmentName,
  ...target,
  follow: flag('--follow', 'keep printing new events'),
  output: output('text', 'json'),
}

/** Options of `events`. */
export type EventsValues = Values<typeof options>

export const events = command({
  name: 'events',
  group: 'Deploy',
  isSecondary: true,
  summary: 'Show the events of the application in the cluster',
  description: `Prints the events of the cluster about the workloads, Pods, volumes and routes of the application, oldest first. Clusters keep events for an hour by default. With --output json, each line is one event.`,
  options,
  examples: [{ line: 'devctl events --follow', does: 'watch what the cluster does with the application' }],
  async run(context, _words, options) {
    const { showEvents } = await import('../run/events.ts')
    return showEvents(context, options)
  },
})
