import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Span } from '../../text/source.ts'
import { isDnsLabel } from '../../values/dns-name.ts'
import { type PlanContext, sortBy } from '../context.ts'
import { isServiceName } from '../object-names.ts'
import type { Mention, Mentions } from '../secrets/mentions.ts'
import type { Group, Groups } from '../workload/groups.ts'
import type { KindDecision } from '../workload/kind.ts'

const unreachable = diagnostic({
  code: 'names/unreachable',
  severity: 'error',
  explain: `The text names a host that cannot exist in Kubernetes, so the service would not reach it. A name of two labels, such as \`api.shop\`, is the host name of a Pod and the name of a headless Service. That needs a service that is no StatefulSet, and a Pod has only one such name. Names of more labels do not exist. Use the name of the service, which works in Compose, too.

\`\`\`yaml
services:
  api:
    image: shop/api:4
    container_name: api.shop.internal
  web:
    environment:
      API_URL: http://api:8080      # not http://api.shop.internal:8080
\`\`\``,
  text: (p: { where: string; host: string; name: string; reason: string }) => ({
    message: `${p.where} uses the host \`${p.host}\`, which does not exist in Kubernetes: ${p.reason}`,
    hint: `write \`${p.name}\``,
  }),
})

/** A name with dots that the Compose file defines for a service, and by which other services reach the service. */
interface DottedRequest {
  readonly name: string
  /** The service that the name resolves to. */
  readonly service: string
  readonly owner: string
  /** The key in the Compose file that defines the name. Absent if the name is that service's own name. */
  readonly key?: 'networks' | 'links' | 'container_name' | 'hostname'
  readonly span: Span
}

/** The name of a Pod: `HOSTNAME.SUBDOMAIN`. */
export interface PodName extends DottedRequest {
  readonly hostname: string
  /** Second part of the Pod name; also the name of a headless Service. */
  readonly subdomain: string
}

/** The dotted names of all services. */
export interface DottedNames {
  /** Returns the dotted name of a group's Pod; undefined if the Pod has none. */
  of(group: Group): PodName | undefined
  /**
   * Returns true if a name of a service needs no further report: the dotted name resolves to the service, or
   * `reportUses` reports the uses of the name.
   */
  isSettled(name: string, service: string): boolean
  /** Reports uses of names that do not resolve, except the names in `known`, which resolve some other way. */
  reportUses(known: ReadonlySet<string>): void
}

interface Facts {
  readonly groups: Groups
  readonly kindOf: (group: Group) => KindDecision
  readonly mentions: Mentions
  readonly holders: ReturnType<typeof nameHolders>
}

interface Impossible extends DottedRequest {
  readonly reason: string
}

/**
 * Chooses the name of each Pod, `HOSTNAME.SUBDOMAIN`, from the dotted names of its services: the first possible name
 * that other services use, otherwise the first possible name. Other names with dots do not resolve.
 */
export function planDottedNames(context: PlanContext, facts: Facts): DottedNames {
  const requests = new Map<Group, DottedRequest[]>()
  for (const service of sortBy(context.project.services.values(), ({ name }) => name))
    for (const request of dottedRequests(context, facts.mentions, service)) {
      const group = facts.groups.of(request.service)
      if (group) requests.set(group, [...(requests.get(group) ?? []), request])
    }
  const chosen = new Map<Group, PodName>()
  const impossible: Impossible[] = []
  for (const [group, list] of requests) {
    const isUsed = ({ name, service }: DottedRequest) => usesOf(facts.mentions, name, service).length > 0
    for (const request of [...list.filter(isUsed), ...list.filter(one => !isUsed(one))]) {
      const found = podName(request, group, facts.kindOf(group), facts.holders)
      const first = chosen.get(group)
      if (typeof found === 'string') impossible.push({ ...request, reason: found })
      else if (!first) chosen.set(group, found)
      else if (first.name !== found.name)
        impossible.push({ ...request, reason: `its Pod has the name \`${first.name}\` already` })
    }
  }
  return {
    of: group => chosen.get(group),
    isSettled: (name, service) => {
      const group = facts.groups.of(service)
      const isPossible = group !== undefined && chosen.get(group)?.name === name
      return isPossible || (name.includes('.') && usesOf(facts.mentions, name, service).length > 0)
    },
    reportUses: known => {
      for (const one of impossible) if (!known.has(one.name)) reportUse(context, facts.mentions, one)
    },
  }
}

/** Returns the positions where other services use a name as a host. */
const usesOf = (mentions: Mentions, name: string, service: string): readonly Mention[] =>
  mentions.of(service).filter(({ host, isHost }) => isHost && host === name)

function reportUse(
  { reporter, names, project }: PlanContext,
  mentions: Mentions,
  { name: host, service, key, span, reason }: Impossible,
): void {
  const hasAddress = (user: string) =>
    project.services.get(user)?.extraHosts.some(({ host: own }) => own.toLowerCase() === host) === true
  for (const { where, span: place, from } of usesOf(mentions, host, service)) {
    if ([...from].every(user => user === service || hasAddress(user))) continue
    const related = [{ span, message: `\`${service}\` ${key ? `gets the name here, in \`${key}\`` : 'is here'}` }]
    reporter.report(unreachable, place, { where, host, name: names.of(service), reason }, related)
  }
}

/** Returns the Pod name that makes a dotted name resolve, or the reason why none can. */
function podName(
  request: DottedRequest,
  { lead, members }: Group,
  { kind }: KindDecision,
  holders: Facts['holders'],
): PodName | string {
  const [hostname = '', subdomain = '', ...more] = request.name.split('.')
  if (more.length > 0) return 'a name has at most two labels there'
  if (!isDnsLabel(hostname) || !isServiceName(subdomain)) return 'its labels are not valid'
  if (kind === 'StatefulSet') return `\`${request.service}\` has data, and its Pod is called \`${lead.name}-0\``
  const written = members.find(one => one.hostname)?.hostname?.value
  if (written !== undefined && written.split('.')[0]?.toLowerCase() !== hostname)
    return `its Pod has the host name \`${written}\``
  if ([...(holders.get(subdomain) ?? [])].some(other => other !== lead.name))
    return `\`${subdomain}\` is the name of another service`
  return { ...request, hostname, subdomain }
}

/**
 * Maps each name by which a service is reached, such as its own name, an alias or a link, to the groups whose services
 * have the name. A group is represented by its lead, the service whose Pod the other members join. Names are in lower
 * case.
 */
export function nameHolders({ project, names }: PlanContext, groups: Groups): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  const add = (name: string, service: string) => {
    const lead = groups.of(service)?.lead.name ?? service
    found.set(name.toLowerCase(), (found.get(name.toLowerCase()) ?? new Set()).add(lead))
  }
  for (const { name, containerName, networks, links, externalLinks } of project.services.values()) {
    add(names.of(name), name)
    if (containerName) add(containerName.value, name)
    for (const { aliases } of networks) for (const { value } of aliases) add(value, name)
    for (const { alias, service } of links) add(alias, service)
    for (const { alias, service } of externalLinks) add(alias, service)
  }
  return found
}

/**
 * Yields the dotted names that a service defines for itself and for other services. Yields the name of the service and
 * its `hostname` only if a text uses them as a host.
 */
function* dottedRequests({ project }: PlanContext, mentions: Mentions, service: Service): Generator<DottedRequest> {
  const owner = service.name
  const { containerName, networks, links, hostname } = service
  const isUsed = (name: string) =>
    [...mentions.of(owner), ...mentions.ofItself(owner)].some(
      ({ host, isHost }) => isHost && host === name.toLowerCase(),
    )
  const isDotted = (name: string) => /^[^.]+(\.[^.]+)+$/.test(name)
  const all: DottedRequest[] = [
    ...(containerName
      ? [{ name: containerName.value, service: owner, key: 'container_name', span: containerName.span } as const]
      : []),
    ...networks.flatMap(({ aliases }) =>
      aliases.map(({ value, span }) => ({ name: value, service: owner, key: 'networks', span }) as const),
    ),
    ...links.map(({ alias, service: target, span }) => ({ name: alias, service: target, key: 'links', span }) as const),
    ...(hostname && isUsed(hostname.value)
      ? [{ name: hostname.value, service: owner, key: 'hostname', span: hostname.span } as const]
      : []),
    ...(isUsed(owner) ? [{ name: owner, service: owner, span: service.span }] : []),
  ].map(one => ({ ...one, name: one.name.toLowerCase(), owner }))
  for (const request of all) if (isDotted(request.name) && project.services.has(request.service)) yield request
}
