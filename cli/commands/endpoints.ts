import { command } from '../command.ts'
import { choice } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { environmentName, target } from '../options/target.ts'

export const endpoints = command({
  name: 'endpoints',
  summary: 'List the public addresses of the application',
  description: `Lists the addresses of the environment's Ingresses and HTTPRoutes, the short ones first, with the services that answer there. One is ready when each of these has a Pod that is ready, and the address answers from here: with another status than 5xx, and not as for hosts without a route.`,
  options: {
    ...loading,
    name: environmentName,
    ...target,
    output: choice('-o, --output <format>', 'print for a program, or for a page', ['json', 'md']),
  },
  examples: [
    { line: 'devctl endpoints', does: 'those of this folder' },
    { line: "devctl endpoints --output json | jq -r '.[] | select(.ready) | .url'", does: 'those that answer' },
  ],
  async run(context, _words, options) {
    const { listEndpoints } = await import('../run/endpoints.ts')
    return listEndpoints(context, options)
  },
})
