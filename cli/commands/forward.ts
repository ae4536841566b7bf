import { command } from '../command.ts'
import { text, type Values } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { environmentName, target } from '../options/target.ts'

const options = {
  ...loading,
  name: environmentName,
  ...target,
  address: text('--address <address>', 'address to listen on (default: localhost, IPv4 and IPv6)'),
}

/** Options of `forward`. */
export type ForwardValues = Values<typeof options>

export const forward = command({
  name: 'forward',
  group: 'Deploy',
  summary: 'Forward local ports to a service',
  description: `Listens on local ports and forwards each connection through the API server to a ready Pod of the service, until Ctrl-C. Use it for services without a public address, such as databases and others that do not speak HTTP.

A port is \`LOCAL:REMOTE\`; \`REMOTE\` alone uses the same port on both sides, and \`:REMOTE\` any free local port. The remote port is a port of the Service or of the container.`,
  words: [
    { name: '<service>', description: 'name of the service', completes: 'service' },
    { name: '<port...>', description: 'ports, such as `8080:80`' },
  ],
  options,
  examples: [
    { line: 'devctl forward web 8080:80', does: 'forward http://localhost:8080 to port 80 of web' },
    { line: 'devctl forward db 5432', does: 'connect to the database from this machine' },
  ],
  async run(context, [service, ...ports], options) {
    const { forwardPorts } = await import('../run/forward.ts')
    return forwardPorts(context, service!, ports, options)
  },
})
