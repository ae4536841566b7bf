import { command } from '../command.ts'
import type { Values } from '../options/option.ts'
import { output } from '../options/output.ts'
import { loading } from '../options/project.ts'
import { environmentName, target } from '../options/target.ts'

const options = { ...loading, name: environmentName, ...target, output: output('text', 'json', 'yaml', 'name') }

/** Options of `top`. */
export type TopValues = Values<typeof options>

export const top = command({
  name: 'top',
  group: 'Deploy',
  isSecondary: true,
  summary: 'Show the usage of CPU and memory of deployed services',
  description: `Lists the running containers of the deployed services with their usage of CPU and memory, and what they request and may use at most. The cluster needs a metrics server, which measures a new Pod after some seconds. In JSON, CPU is in cores, and memory in bytes.

\`devctl exec --service web -- ps aux\` lists the processes of a container.`,
  words: [{ name: '[service...]', description: 'only these services (default: all)', completes: 'service' }],
  options,
  examples: [{ line: 'devctl top web', does: 'show the usage of the Pods of `web`' }],
  async run(context, services, options) {
    const { showUsage } = await import('../run/top.ts')
    return showUsage(context, services, options)
  },
})
