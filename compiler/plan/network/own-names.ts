import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { At } from '../../text/source.ts'
import { isDnsLabel } from '../../values/dns-name.ts'
import type { PlanContext } from '../context.ts'
import { isServiceName } from '../object-names.ts'
import type { ServicePort } from '../plan.ts'
import type { Mention, Mentions } from '../secrets/mentions.ts'
import type { Group } from '../workload/groups.ts'
import type { KindDecision } from '../workload/kind.ts'

const otherNames = diagnostic({
  code: 'names/own-names',
  severity: 'warning',
  explain: `A service reaches itself by its own name at once in Compose. In a cluster that name leads to its Service, which has nobody behind it until the service is ready. A Pod can have one name of its own, its host name; devctl gives it the one that the service uses. This service uses another one as well, or has a \`hostname\` already. If it needs that name to become ready, it never does.

\`\`\`yaml
services:
  web:
    container_name: shop-web
    environment: {SELF_URL: "http://web:80"}
    healthcheck:
      test: [CMD, curl, -f, "http://localhost:80/"]    # not http://shop-web:80/
\`\`\``,
  text: (p: { where: string; host: string; name: string }) => ({
    message: `${p.where} uses its own name \`${p.host}\`, but the Pod is called \`${p.name}\`: it does not reach itself by \`${p.host}\` until it is ready`,
    hint: `write \`localhost\`, or \`${p.name}\``,
  }),
})

const severalPods = diagnostic({
  code: 'names/own-name-of-several',
  severity: 'warning',
  explain:
    'A service with data uses its own name, and has several replicas. In a cluster the name leads to any of them that is ready, and to none while all of them start. Use `localhost` for the container itself, or the name of a Pod, which ends in its number: `db-0`.',
  text: (p: { where: string; host: string; replicas: number }) => ({
    message: `${p.where} uses its own name \`${p.host}\`, which leads to any of its ${p.replicas} replicas that is ready`,
    hint: 'write `localhost` for the container itself',
  }),
})

const fixedHostname = diagnostic({
  code: 'hostname/stateful-set',
  severity: 'warning',
  loss: true,
  explain:
    'A service with data becomes a StatefulSet, whose Pods are called after it, with their number: `db-0`. Their host name cannot be set. Where the service uses the `hostname` of the file as its own name, that becomes a further name of the service, which leads to its Pod; programs that ask for the host name of their container get that of the Pod.',
  text: (p: { hostname: string; name: string; isUsed: boolean; isName: boolean }) =>
    p.isName
      ? {
          message: `\`${p.hostname}\` leads to \`${p.name}\`, but is not the host name of its Pod: the service has data, and its Pod is called \`${p.name}-0\``,
          hint: `if its program asks for the host name, it gets \`${p.name}-0\``,
        }
      : {
          message: `\`hostname: ${p.hostname}\` has no effect: the service has data, and its Pod is called \`${p.name}-0\``,
          hint: p.isUsed ? `write \`${p.name}\` or \`${p.name}-0\` where it is used, and remove it` : 'remove it',
        },
})

const earlyPort = diagnostic({
  code: 'names/own-name-port',
  severity: 'warning',
  explain:
    'A service with data uses its own name. So that it reaches itself before it is ready, its Service leads to its Pod directly, without translating a published port to the container port. Another service uses the published one. Use the container port.',
  text: (p: { where: string; service: string; port: number; target: number }) => ({
    message: `${p.where} uses the published port ${p.port} of \`${p.service}\`, which is ${p.target} in the cluster`,
    hint: `write \`${p.service}:${p.target}\`, or \`localhost\` where \`${p.service}\` uses its own name`,
  }),
})

/**
 * Reports peers that use a published port of a service whose Service does not translate the port to a container port.
 */
export function reportEarlyPorts(
  { reporter }: PlanContext,
  mentions: Mentions,
  { name: service }: Service,
  ports: readonly ServicePort[],
): void {
  for (const { port, where, span } of mentions.of(service)) {
    const found = ports.find(one => one.port === port)
    if (found && found.targetPort !== port)
      reporter.report(earlyPort, span, { where, service, port: found.port, target: found.targetPort })
  }
}

/** Names by which a Pod reaches itself and its peers before it is ready. */
export interface OwnNames {
  /** Host name of the Pod, which the kubelet resolves to the Pod's address. */
  readonly hostname?: string
  /** Members whose Services route to the Pod before it is ready. */
  readonly early: ReadonlySet<string>
  /**
   * Members of `early` whose Services are headless. The name of such a Service resolves to the address of the Pod
   * itself, on which a server can listen.
   */
  readonly direct: ReadonlySet<string>
  /**
   * Host names that members use for themselves although the Pod cannot have them. The keys are the members. Each host
   * name becomes an additional name of the member's Service.
   */
  readonly called: ReadonlyMap<string, At<string>>
}

interface NameFacts {
  /** Services that form clusters (see `findClustered`). */
  readonly clustered: ReadonlySet<string>
  /** Host name that the Pod needs for its dotted name. Undefined if the Pod has no dotted name. */
  readonly given: string | undefined
  /**
   * Maps each name by which a service is reached to the leads (first members) of the groups whose services have the
   * name.
   */
  readonly holders: ReadonlyMap<string, ReadonlySet<string>>
}

/**
 * Decides how the names that members of a group use for themselves resolve within the group, and how the group reaches
 * its cluster peers (see `findClustered`). Reports names that cannot resolve. No name resolves to 127.0.0.1, because
 * servers also listen on the name for connections from other Pods.
 */
export function planOwnNames(
  context: PlanContext,
  group: Group,
  { kind }: Pick<KindDecision, 'kind'>,
  mentions: Mentions,
  { clustered, given, holders }: NameFacts,
): OwnNames {
  const { lead, members } = group
  // The node's network has its own names, and a Pod without a network has nothing to reach.
  const isOwn = !members.some(({ networkMode }) => /^(host|none)$/.test(networkMode?.value ?? ''))
  const used = isOwn ? members.flatMap(({ name }) => mentions.ofItself(name)) : []
  const peers = members.filter(({ name }) => clustered.has(name)).map(({ name }) => name)
  if (kind === 'StatefulSet') {
    const { direct, called } = forStatefulSet(context, group, used, holders)
    return { early: new Set([...direct, ...peers]), direct, called }
  }
  const written = members
    .find(({ hostname }) => hostname)
    ?.hostname?.value.split('.')[0]
    ?.toLowerCase()
  const own = context.names.of(lead.name)
  const preferred = used.find(({ host }) => host === own) ?? used.find(({ host }) => isDnsLabel(host))
  const hostname = written ?? given ?? preferred?.host
  for (const { host, where, span } of distinct(used))
    if (hostname !== undefined && host !== hostname && isDnsLabel(host))
      context.reporter.report(otherNames, span, { where, host, name: hostname })
  const isSet = written === undefined && hostname !== undefined
  return { ...(isSet && { hostname }), early: new Set(peers), direct: new Set(), called: new Map() }
}

/**
 * Finds services that form a cluster: they use the same image and mention each other as hosts. A service of a cluster
 * becomes ready only after it has reached the others. Compose allows this, because a name resolves to a container
 * before the container is ready.
 */
export function findClustered({ project }: PlanContext, mentions: Mentions): ReadonlySet<string> {
  const imageOf = (service: string) => project.services.get(service)?.image?.value
  const named = new Map(
    [...project.services.keys()].map(service => [
      service,
      new Set(mentions.of(service).flatMap(({ from, isHost }) => (isHost ? [...from] : []))),
    ]),
  )
  const isPeer = (service: string, other: string) =>
    other !== service && named.get(other)?.has(service) === true && imageOf(other) === imageOf(service)
  return new Set(
    [...named].flatMap(([service, from]) =>
      imageOf(service) !== undefined && [...from].some(other => isPeer(service, other)) ? [service] : [],
    ),
  )
}

/**
 * Decides how members of a StatefulSet reach themselves by name: through Services that route directly to the only Pod
 * of the StatefulSet (`direct`), or by their `hostname` as an additional name (`called`). Reports host names that the
 * Pod does not get, and names that do not work with several replicas.
 */
function forStatefulSet(
  { reporter, names, project }: PlanContext,
  { lead, members }: Group,
  used: readonly Mention[],
  holders: NameFacts['holders'],
): Pick<OwnNames, 'direct' | 'called'> {
  const name = names.of(lead.name)
  const replicas = lead.scale?.value ?? 1
  const called = new Map<string, At<string>>()
  for (const { hostname, name: service } of members) {
    if (!hostname || hostname.value === `${name}-0`) continue
    const host = hostname.value.toLowerCase()
    const isUsed = used.some(one => one.service === service && one.host === host)
    const holder = holders.get(host)
    const isOnly = [...project.services.values()].every(
      one => one.name === service || one.hostname?.value.toLowerCase() !== host,
    )
    const isFree = replicas <= 1 && isUsed && holder === undefined && isOnly && isServiceName(host)
    if (isFree) called.set(service, { value: host, span: hostname.span })
    const isName = isFree || (holder?.size === 1 && holder.has(lead.name))
    reporter.report(fixedHostname, hostname.span, { hostname: hostname.value, name, isUsed, isName })
  }
  if (replicas <= 1) return { direct: new Set(used.map(({ service }) => service)), called }
  for (const { host, where, span } of distinct(used)) reporter.report(severalPods, span, { where, host, replicas })
  return { direct: new Set(), called }
}

const distinct = (used: readonly Mention[]): readonly Mention[] =>
  used.filter(({ host }, index) => used.findIndex(other => other.host === host) === index)
