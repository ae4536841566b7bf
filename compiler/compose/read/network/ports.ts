import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import { spanInside } from '../../../text/span-inside.ts'
import { entry, get, isMap, type MapTree, type ScalarTree, type Tree } from '../../../text/tree.ts'
import { isLabelKey } from '../../../values/annotation.ts'
import { isIPv4, isIPv6 } from '../../../values/ip-address.ts'
import type { Port, PortExposure, Protocol, Service } from '../../project.ts'
import type { ReadContext } from '../context.ts'
import { items, list, nonEmptyText, pairs, scalar, scalars } from '../tree-values.ts'
import { readHosts } from './hosts.ts'
import { isPort, readPortNumber } from './port-number.ts'
import { reportPublishedTwice } from './published-twice.ts'

const badPublished = diagnostic({
  code: 'ports/bad-published',
  severity: 'error',
  explain: `A published port is a number, or a range such as \`8000-8010\` from which one port is chosen. Names, addresses and descending ranges are not allowed. Write an address in \`host_ip\`.`,
  text: (p: { published: string; reason: string }) => ({
    message: `the published port \`${p.published}\` ${p.reason}`,
    hint: 'write a number from 0 to 65535, or a range such as `8000-8010`',
  }),
})

const unknownProtocol = diagnostic({
  code: 'ports/unknown-protocol',
  severity: 'error',
  explain:
    'The protocol of a port is `tcp` (the default), `udp` or `sctp`; Kubernetes supports no other. Write an application protocol such as HTTP in `app_protocol`.',
  text: (p: { protocol: string }) => ({
    message: `unknown port protocol \`${p.protocol}\``,
    hint: 'use `tcp`, `udp` or `sctp`',
  }),
})

const badExpose = diagnostic({
  code: 'ports/bad-expose',
  severity: 'error',
  explain: `\`expose\` lists container ports for other services: \`"3000"\`, a range \`"3000-3005"\`, or with a protocol \`"53/udp"\`. To publish a port, use \`ports\`.`,
  text: (p: { value: string; reason: string }) => ({
    message: `\`${p.value}\` in \`expose\` ${p.reason}`,
    hint: 'write `3000`, `3000-3005` or `53/udp`',
  }),
})

const manyExposed = diagnostic({
  code: 'ports/many-exposed',
  severity: 'warning',
  explain:
    'Each exposed port becomes a port of the Kubernetes Service, which adds rules on every node. Hundreds of them slow down the cluster. A service without known ports gets a headless Service, which makes every port reachable: often that is what a large range is for.',
  text: (p: { count: number }) => ({
    message: `\`expose\` lists ${p.count} ports`,
    hint: 'list the ports that are used, or remove `expose` to make every port reachable',
  }),
})

/** Maximum number of ports of a Service. A port takes about 75 bytes, and an object may have at most 1.5 MB. */
const MAX_PORTS = 10_000
export const tooManyPorts = diagnostic({
  code: 'ports/too-many',
  severity: 'error',
  explain: `The ranges in \`ports\` and \`expose\` of a service add up to more than ${MAX_PORTS} ports. Each port is an entry in the Kubernetes Service, and etcd does not store objects larger than 1.5 MB. List the ports that are used. A service without known ports gets a headless Service, which makes every port reachable.`,
  text: (p: { count: number }) => ({
    message: `this service has ${p.count} ports; a Service can have at most ${MAX_PORTS}`,
    hint: 'list the ports that are used',
  }),
})

const anyPublished = diagnostic({
  code: 'ports/any-published',
  severity: 'warning',
  loss: true,
  explain: `With the published port \`0\` the container engine chooses a free port of its machine. A cluster has no equivalent, so the service is reachable inside the cluster only, at its container port. To make it public, publish it on any port:

\`\`\`yaml
ports:
  - "8080:80"
\`\`\``,
  text: (p: { target: number }) => ({
    message: `the published port \`0\` of ${p.target} is left out: a cluster does not choose a free port`,
    hint: `write \`${p.target}:${p.target}\` to make the port public, or \`${p.target}\` alone`,
  }),
})

const badClass = diagnostic({
  code: 'ports/bad-class',
  severity: 'error',
  explain:
    '`loadBalancerClass` of `x-expose` names the load balancer implementation of the Service. Its documentation has the name: at most 63 letters, digits, `-`, `_` and `.`, with an optional `host.name/` prefix.',
  text: (p: { name: string }) => ({
    message: `\`${p.name}\` is not a valid load balancer class`,
    hint: 'write it as `example.com/internal`',
  }),
})

const onlyOfLoadBalancer = diagnostic({
  code: 'ports/only-of-load-balancer',
  severity: 'error',
  explain:
    '`loadBalancerClass` and `sourceRanges` of `x-expose` need `type: LoadBalancer`; the API server refuses them on a Service of type NodePort. To restrict who can connect to a node port, use the firewall of the nodes.',
  text: (p: { key: string }) => ({
    message: `\`${p.key}\` is only allowed with \`type: LoadBalancer\``,
    hint: 'remove it, or write `type: LoadBalancer`',
  }),
})

const badRange = diagnostic({
  code: 'ports/bad-range',
  severity: 'error',
  explain:
    '`sourceRanges` of `x-expose` lists the addresses that may connect, as CIDR ranges such as `203.0.113.0/24`.',
  text: (p: { range: string }) => ({
    message: `\`${p.range}\` is not a CIDR range`,
    hint: 'write a CIDR range, such as `203.0.113.0/24`',
  }),
})

const protocols: ReadonlyMap<string, Protocol> = new Map([
  ['tcp', 'TCP'],
  ['udp', 'UDP'],
  ['sctp', 'SCTP'],
])

/**
 * Reads `ports` and `expose`. Reports invalid ports, unsupported protocols, ports that are published twice, and too
 * many ports.
 */
export function readPorts(service: MapTree, context: ReadContext): Pick<Service, 'ports' | 'expose'> {
  const ports: Port[] = []
  for (const item of items(service, 'ports').filter(isMap)) {
    const port = readPort(item, context)
    if (port) ports.push(port)
  }
  reportPublishedTwice(ports, context.reporter)
  const expose = readExpose(service, context)
  const first = ports[0] ?? expose[0]
  const count = ports.length + expose.length
  if (first && count > MAX_PORTS) {
    context.reporter.report(tooManyPorts, first.span, { count })
    return { ports: [], expose: [] }
  }
  if (expose[0] && expose.length > 100) context.reporter.report(manyExposed, expose[0].span, { count: expose.length })
  return { ports, expose }
}

function readPort(tree: MapTree, context: ReadContext): Port | undefined {
  const target = readPortNumber(tree, ['target'], context)
  if (!target) return undefined
  const protocol = readProtocol(tree, context)
  const published = readPublished(tree, target.value, context)
  const expose = readExposure(get(tree, 'x-expose'), context)
  return {
    span: tree.span,
    target: target.value,
    protocol: protocol ?? 'TCP',
    ...(published !== undefined && { published }),
    hostIp: nonEmptyText(tree, 'host_ip')?.value,
    mode: nonEmptyText(tree, 'mode')?.value,
    name: nonEmptyText(tree, 'name')?.value,
    appProtocol: nonEmptyText(tree, 'app_protocol')?.value,
    hosts: readHosts(get(tree, 'x-host'), undefined, context.reporter),
    ...(expose && { expose }),
  }
}

function readExposure(tree: Tree | undefined, context: ReadContext): PortExposure | undefined {
  const type = nonEmptyText(tree, 'type')?.value
  if (!tree || (type !== 'LoadBalancer' && type !== 'NodePort')) return undefined
  const nodePort = readPortNumber(tree, ['nodePort'], context)?.value
  if (type === 'NodePort') refuseKeysOfLoadBalancers(tree, context)
  return {
    span: tree.span,
    type,
    ...(nodePort !== undefined && { nodePort }),
    annotations: pairs(tree, ['annotations'], ''),
    ...(type === 'LoadBalancer' ? readLoadBalancer(tree, context) : { sourceRanges: [] }),
  }
}

function refuseKeysOfLoadBalancers(tree: Tree, { reporter }: ReadContext): void {
  for (const key of ['loadBalancerClass', 'sourceRanges']) {
    const found = entry(tree, key)
    if (found) reporter.report(onlyOfLoadBalancer, found.key, { key })
  }
}

function readLoadBalancer(
  tree: Tree,
  { reporter }: ReadContext,
): Pick<PortExposure, 'loadBalancerClass' | 'sourceRanges'> {
  const loadBalancerClass = nonEmptyText(tree, 'loadBalancerClass')
  if (loadBalancerClass && !isLabelKey(loadBalancerClass.value))
    reporter.report(badClass, loadBalancerClass.span, { name: loadBalancerClass.value })
  const ranges = list(tree, 'sourceRanges')
  for (const { value, span } of ranges) if (!isCidr(value)) reporter.report(badRange, span, { range: value })
  return {
    ...(loadBalancerClass && { loadBalancerClass: loadBalancerClass.value }),
    sourceRanges: ranges.map(({ value }) => value),
  }
}

function isCidr(text: string): boolean {
  const [, address = '', length] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? []
  const version = isIPv4(address) ? 32 : isIPv6(address) ? 128 : -1
  return Number(length) <= version
}

function readProtocol(tree: MapTree, { reporter }: ReadContext): Protocol | undefined {
  const found = nonEmptyText(tree, 'protocol')
  const known = found && protocols.get(found.value.toLowerCase())
  if (found && !known) reporter.report(unknownProtocol, found.span, { protocol: found.value })
  return known
}

/**
 * Reads the published port or range as written. Returns undefined for `0`, which lets the engine choose a port, and
 * reports it.
 */
function readPublished(tree: MapTree, target: number, { reporter }: ReadContext): string | undefined {
  const found = scalar(tree, 'published')
  const published = String(found?.value ?? '').trim()
  if (!found || published === '') return undefined
  if (published === '0') {
    reporter.report(anyPublished, found.span, { target })
    return undefined
  }
  const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(published) ?? []
  const reason =
    first === undefined
      ? 'is neither a number nor a range'
      : Number(first) > 65535 || Number(last) > 65535
        ? 'is not between 0 and 65535'
        : Number(last) < Number(first)
          ? 'is a descending range'
          : undefined
  if (reason === undefined) return published
  reporter.report(badPublished, found.span, { published, reason })
  return undefined
}

type Exposed = Service['expose'][number]

function readExpose(service: MapTree, context: ReadContext): Service['expose'] {
  const found: Exposed[] = []
  const seen = new Map([...protocols.values()].map(protocol => [protocol, new Set<number>()]))
  for (const item of scalars(service, 'expose')) {
    const range = readExposed(item, context)
    const ports = range && seen.get(range.protocol)
    if (!ports) continue
    context.reporter.budget.spend('ports', range.to - range.from, item.span)
    for (let port = range.from; port <= range.to; port++) {
      if (ports.has(port)) continue
      ports.add(port)
      found.push({ value: { port, protocol: range.protocol }, span: item.span })
    }
  }
  return found
}

interface PortRange {
  readonly from: number
  /** The last port, inclusive. */
  readonly to: number
  readonly protocol: Protocol
}

function readExposed(item: ScalarTree, { reporter }: ReadContext): PortRange | undefined {
  const value = String(item.value)
  const wrong = (reason: string, start = 0, end = value.length): undefined => {
    reporter.report(badExpose, spanInside(item, start, end), { value, reason })
  }
  const [, first, last = first, word = 'tcp'] = /^(\d+)(?:-(\d+))?(?:\/(\w+))?$/.exec(value.trim()) ?? []
  if (first === undefined || last === undefined) return wrong('is not a valid port')
  const protocol = protocols.get(word.toLowerCase())
  const slash = value.indexOf('/')
  if (!protocol) return wrong(`has the unknown protocol \`${word}\``, slash + 1)
  const from = Number(first)
  const to = Number(last)
  if (!isPort(from) || !isPort(to)) return wrong('is not between 1 and 65535', 0, slash < 0 ? value.length : slash)
  if (to < from) return wrong('is a descending range', 0, slash < 0 ? value.length : slash)
  return { from, to, protocol }
}
