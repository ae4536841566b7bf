import { command } from '../command.ts'
import { text } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { environmentName, target } from '../options/target.ts'

export const forward = command({
  name: 'forward',
  summary: 'Make ports of a service reachable on this machine',
  description: `Listens on ports of this machine and passes each connection on to a ready Pod of the service, through the API server, until Ctrl-C. It is for what has no public address: databases, and all that does not speak HTTP.

A port is \`LOCAL:REMOTE\`; \`REMOTE\` alone is the same port on both sides, and \`:REMOTE\` takes any free one. The remote port is one of the Service, or of the container.`,
  words: [
    { name: '<service>', description: 'name of the service', completes: 'service' },
    { name: '<port...>', description: 'ports, such as `8080:80`' },
  ],
  options: {
    ...loading,
    name: environmentName,
    ...target,
    address: text('--address <address>', 'address to listen on (default: localhost, of IPv4 and IPv6)'),
  },
  examples: [
    { line: 'devctl forward web 8080:80', does: 'http://localhost:8080 is port 80 of web' },
    { line: 'devctl forward db 5432', does: 'a client of the database on this machine' },
  ],
  async run(context, [service, ...ports], options) {
    const { forwardPorts } = await import('../run/forward.ts')
    return forwardPorts(context, service!, ports, options)
  },
})
