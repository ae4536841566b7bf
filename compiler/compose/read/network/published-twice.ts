import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../../diagnostics/reporter.ts'
import type { Port } from '../../project.ts'

const publishedTwice = diagnostic({
  code: 'ports/published-twice',
  severity: 'error',
  explain: `A service publishes two of its ports on the same port. Only one of them can have it: Docker Compose fails when it starts the container (\`port is already allocated\`), and a Service in Kubernetes forwards a port to one container port.

\`\`\`yaml
ports:
  - "8080:80"
  - "8081:81"      # not "8080:81"
\`\`\`

The same number may be published with two protocols (\`53:53/tcp\`, \`53:53/udp\`), on two addresses, and by two services.`,
  text: (p: { published: number; targets: readonly [number, number] }) => ({
    message: `port ${p.published} is published twice: for the container ports ${p.targets.join(' and ')}`,
    hint: 'publish one of them on another port',
  }),
})

/**
 * Reports different container ports of a service that are published on the same port, once for each pair of items. Two
 * ports with `x-expose` may belong to different Services, so the planner checks them.
 */
export function reportPublishedTwice(ports: readonly Port[], reporter: Reporter): void {
  const found = new Map<string, Port>()
  const reported = new Set<string>()
  for (const port of ports) {
    const published = singlePort(port)
    if (published === undefined) continue
    const key = `${port.hostIp ?? '0.0.0.0'} ${published}/${port.protocol}`
    const first = found.get(key)
    if (!first) found.set(key, port)
    else if (first.target !== port.target && !(first.expose && port.expose)) {
      const pair = `${placeOf(first)} ${placeOf(port)}`
      if (reported.has(pair)) continue
      reported.add(pair)
      reporter.report(publishedTwice, port.span, { published, targets: [first.target, port.target] }, [
        { span: first.span, message: `port ${first.target} has it here` },
      ])
    }
  }
}

/**
 * Returns the port number that a port is published on. Returns undefined for a range, from which the engine chooses a
 * free port.
 */
function singlePort({ published }: Port): number | undefined {
  const [, first] = /^(\d+)(?:-\1)?$/.exec(published ?? '') ?? []
  return first === undefined ? undefined : Number(first)
}

const placeOf = ({ span }: Port): string => `${span.file.path}:${span.start}`
