import { command } from '../command.ts'
import type { Values } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { environmentName, target, timeout } from '../options/target.ts'

const options = { ...loading, name: environmentName, ...target, timeout }

/** Options of `scale`. */
export type ScaleValues = Values<typeof options>

export const scale = command({
  name: 'scale',
  group: 'Deploy',
  isSecondary: true,
  summary: 'Set the number of replicas of services until the next deploy',
  description: `Sets the number of replicas of services in the cluster. The next deploy sets the number of the files again; to keep the new one, write \`scale\` in the Compose file.

Jobs, DaemonSets and services with an autoscaler are refused.`,
  words: [
    { name: '<service=number...>', description: 'services and their numbers, such as `web=3`', completes: 'image' },
  ],
  options,
  examples: [{ line: 'devctl scale web=3 worker=0', does: 'run three replicas of `web`, and none of `worker`' }],
  async run(context, words, options) {
    const { scaleServices } = await import('../run/scale.ts')
    return scaleServices(context, words, options)
  },
})
