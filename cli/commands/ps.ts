import { command } from '../command.ts'
import type { Values } from '../options/option.ts'
import { output } from '../options/output.ts'
import { loading } from '../options/project.ts'
import { environmentName, target } from '../options/target.ts'

const options = {
  ...loading,
  name: environmentName,
  ...target,
  output: output('text', 'wide', 'json', 'name'),
}

/** Options of `ps`. */
export type ListValues = Values<typeof options>

export const ps = command({
  name: 'ps',
  group: 'Deploy',
  summary: 'List the services in the cluster and their status',
  description: `Lists the services of the environment with their kind in the cluster, ready Pods, container restarts, age of the newest Pods, image, public address (or address within the cluster), and the reason if a service is not ready.

With --name, no files are needed.`,
  words: [{ name: '[service...]', description: 'only these services (default: all)', completes: 'service' }],
  options,
  examples: [
    { line: 'devctl ps', does: 'list the services of the application in this folder' },
    {
      line: "devctl ps --output json | jq -r '.[] | select(.ready | not) | .service'",
      does: 'list the services that are not ready',
    },
  ],
  async run(context, services, options) {
    const { listServices } = await import('../run/ps.ts')
    return listServices(context, services, options)
  },
})
