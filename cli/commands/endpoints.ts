import { command } from '../command.ts'
import type { Values } from '../options/option.ts'
import { output } from '../options/output.ts'
import { loading } from '../options/project.ts'
import { environmentName, target } from '../options/target.ts'

const options = {
  ...loading,
  name: environmentName,
  ...target,
  output: output('text', 'json', 'name', 'md'),
}

/** Options of `endpoints`. */
export type EndpointValues = Values<typeof options>

export const endpoints = command({
  name: 'endpoints',
  group: 'Deploy',
  summary: 'List the public addresses of the application',
  description: `Lists the addresses of the environment's Ingresses and HTTPRoutes, the shortest first, with the services behind them. An address is ready when each of its services has a ready Pod and it responds to a request from this machine: with a status other than 5xx, and not in the same way as hosts without a route.`,
  options,
  examples: [
    { line: 'devctl endpoints', does: 'list the addresses of the application in this folder' },
    {
      line: "devctl endpoints --output json | jq -r '.[] | select(.ready) | .url'",
      does: 'list the addresses that are ready',
    },
  ],
  async run(context, _words, options) {
    const { listEndpoints } = await import('../run/endpoints.ts')
    return listEndpoints(context, options)
  },
})
