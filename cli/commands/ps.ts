import { command } from '../command.ts'
import { choice } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { environmentName, target } from '../options/target.ts'

export const ps = command({
  name: 'ps',
  summary: 'List the services in the cluster, and how they are',
  description: `Lists the services of the environment: what they are in the cluster, how many of their Pods are ready, how often containers were started again, since when their newest Pods are there, the image, the public address (else where the cluster reaches them), and why one is not ready.

With --name no files are needed.`,
  words: [{ name: '[service...]', description: 'only these services (default: all)', completes: 'service' }],
  options: {
    ...loading,
    name: environmentName,
    ...target,
    output: choice('-o, --output <format>', 'print for a program', ['json']),
  },
  examples: [
    { line: 'devctl ps', does: 'the services of this folder' },
    {
      line: "devctl ps --output json | jq -r '.[] | select(.ready | not) | .service'",
      does: 'those that are not ready',
    },
  ],
  async run(context, services, options) {
    const { listServices } = await import('../run/ps.ts')
    return listServices(context, services, options)
  },
})
