import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Span } from '../../text/source.ts'
import type { PlanContext } from '../context.ts'
import { protocolOf } from './port-protocol.ts'
import { publishedPort } from './published-port.ts'

const tlsBackend = diagnostic({
  code: 'routes/tls-backend',
  severity: 'warning',
  explain: `The program at this port expects TLS, but a route sends plain HTTP to it, which such a program refuses. \`app_protocol\` says what a port speaks; without it, 443, 8443 and 9443 are taken for HTTPS. Where the ingress class is \`nginx\` or \`haproxy\`, devctl annotates the Ingress, and the route speaks HTTPS to the port. For other controllers, set their annotation with \`labels\`, or publish the HTTP port of the program.

\`\`\`yaml
ports:
  - "8080:8080"                                              # its HTTP port
  - {target: 8443, published: "8443", app_protocol: http}    # it speaks HTTP
\`\`\``,
  text: (p: { service: string; port: number; isWritten: boolean; hasClass: boolean }) => ({
    message: `port ${p.port} of \`${p.service}\` ${p.isWritten ? 'speaks' : 'commonly speaks'} HTTPS, and its route sends plain HTTP to it`,
    hint: [
      'publish the HTTP port',
      p.hasClass
        ? 'or set the annotation of your controller with `labels`'
        : 'or name the ingress class: with `--ingress-class nginx` the route speaks HTTPS',
      ...(p.isWritten ? [] : ['or write `app_protocol: http` if it speaks HTTP']),
    ].join(', '),
  }),
})

type Annotations = Readonly<Record<string, string>>

/**
 * Annotations that make the Ingresses of a class use HTTPS to their backends. Two different controllers use the class
 * `haproxy`.
 */
const ANNOTATIONS: ReadonlyMap<string, Annotations> = new Map<string, Annotations>([
  ['nginx', { 'nginx.ingress.kubernetes.io/backend-protocol': 'HTTPS' }],
  ['haproxy', { 'haproxy-ingress.github.io/backend-protocol': 'h1-ssl', 'haproxy.org/server-ssl': 'true' }],
])

/** Matches annotations with which the user selects the protocol to the backends. */
const OF_BACKENDS = /\/(?:backend-protocol|server-ssl|secure-backends|service\.serversscheme|upstream-protocol\.tls)$/

/** A port that a route forwards to. */
export interface Backend {
  readonly service: Service
  readonly port: number
  readonly span: Span
}

/** True if routes can use HTTPS to reach a port. */
export const reachesTls = ({ options }: Pick<PlanContext, 'options'>): boolean => annotationsFor(options) !== undefined

function annotationsFor({ routes, ingressClass }: PlanContext['options']): Annotations | undefined {
  return routes === 'gateway' || ingressClass === undefined ? undefined : ANNOTATIONS.get(ingressClass)
}

/**
 * Adds the annotations that make a route use HTTPS to its backends, if all backends use TLS. Reports TLS backends that
 * the route cannot reach.
 */
export function withTls(
  { options, reporter }: PlanContext,
  annotations: Annotations | undefined,
  backends: readonly Backend[],
): Annotations | undefined {
  const known = backends.map(one => ({ ...one, protocol: protocolAt(one) }))
  const secure = known.filter(({ protocol }) => protocol.kind === 'tls')
  if (secure.length === 0 || Object.keys(annotations ?? {}).some(key => OF_BACKENDS.test(key))) return annotations
  const own = secure.length === known.length ? annotationsFor(options) : undefined
  if (own) return Object.fromEntries(Object.entries({ ...annotations, ...own }).sort(([a], [b]) => (a < b ? -1 : 1)))
  for (const { service, port, span, protocol } of secure)
    reporter.report(tlsBackend, span, {
      service: service.name,
      port,
      isWritten: protocol.isWritten,
      hasClass: options.routes === 'gateway' || options.ingressClass !== undefined,
    })
  return annotations
}

function protocolAt({ service, port }: Backend) {
  const written =
    service.ports.find(one => one.target === port) ?? service.ports.find(one => publishedPort(one) === port)
  return protocolOf(written ?? { target: port })
}
