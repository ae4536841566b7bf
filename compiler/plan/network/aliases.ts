import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { At, Span } from '../../text/source.ts'
import { type PlanContext, sortBy } from '../context.ts'
import { isServiceName } from '../object-names.ts'
import type { Mentions } from '../secrets/mentions.ts'
import type { DottedNames } from './dotted-names.ts'
import { findSameNetworks } from './same-network.ts'

const collision = diagnostic({
  code: 'names/collision',
  severity: 'error',
  explain: `Two names in the file become the same host name. Services, \`container_name\`, network aliases and link aliases all become names of Services, which are unique in a namespace. (Services on a common network may share an alias: it resolves to all of them.) Rename one.`,
  text: (p: { name: string; what: string; other: string; service: string }) => ({
    message: `${p.what} \`${p.name}\` collides with ${p.other}`,
    hint: `use another name here and in the clients, for example \`${p.service}-${p.name}\``,
  }),
})

const notPossible = diagnostic({
  code: 'names/alias',
  severity: 'warning',
  loss: true,
  explain:
    'Host names in a cluster are names of Services: one DNS label of lower-case letters, digits and `-`, beginning with a letter. An alias with underscores or a leading digit is not a valid name and is left out. A Pod can have one name with a dot, `api.shop`; others are left out.',
  text: (p: { alias: string; service: string }) => ({
    message: `the alias \`${p.alias}\` is not a valid host name in Kubernetes and is left out`,
    hint: `use \`${p.service}\`, or an alias of letters, digits and \`-\``,
  }),
})

const containerName = diagnostic({
  code: 'names/container-name',
  severity: 'warning',
  loss: true,
  explain:
    'Compose resolves a `container_name` as a host name. In a cluster host names have lower-case letters, digits and `-`, and a Pod can have one name with a dot, so this one does not exist. Nothing in the Compose file uses it. If a program in an image uses it, it must use the name of the service instead.',
  text: (p: { name: string; service: string }) => ({
    message: `\`${p.name}\` is not a valid host name in Kubernetes; the service is reachable as \`${p.service}\``,
  }),
})

const external = diagnostic({
  code: 'links/external',
  severity: 'warning',
  loss: true,
  explain:
    'An external link refers to a container of another application. In a cluster it becomes an alias for the Service with that name in the same namespace, which must exist.',
  text: (p: { name: string; reason: string }) => ({
    message: `the external link to \`${p.name}\` is left out: ${p.reason}`,
    hint: 'use the name of the other Service directly',
  }),
})

/** An additional name of one or more services. */
export interface Alias {
  readonly name: string
  /** The Compose services that the name resolves to, sorted; empty for an external alias. */
  readonly services: readonly string[]
  /** The service that defines the alias, with the key `key` in the Compose file. */
  readonly owner: string
  readonly key: 'networks' | 'links' | 'container_name' | 'external_links' | 'hostname'
  readonly span: Span
  readonly externalName?: string
}

interface AliasFacts {
  readonly mentions: Mentions
  readonly dotted: DottedNames
  /** Returns the `hostname` that a service uses for itself, if its Pod cannot have that name; otherwise undefined. */
  readonly calledOf: (service: string) => At<string> | undefined
}

interface AliasRequest {
  readonly name: string
  readonly service: string
  readonly owner: string
  readonly key: Alias['key']
  readonly span: Span
  /** Network on which the alias is valid. If absent, it is valid everywhere. */
  readonly network?: string
  readonly externalName?: string
}

/** Collects the aliases of all services. Reports names that are not available, and names that two services claim. */
export function planAliases(context: PlanContext, facts: AliasFacts): readonly Alias[] {
  const byName = new Map<string, AliasRequest[]>()
  const sameOf = findSameNetworks(context.project)
  for (const service of sortBy(context.project.services.values(), ({ name }) => name))
    for (const request of aliasRequests(context, service, { ...facts, sameOf })) {
      const list = byName.get(request.name)
      if (list) list.push(request)
      else byName.set(request.name, [request])
    }
  const taken = new Map(
    sortBy(context.project.services.values(), ({ name }) => name).map(s => [context.names.of(s.name), s]),
  )
  const found: Alias[] = []
  for (const [name, list] of byName) {
    const holder = taken.get(name)
    const others = list.filter(request => request.service !== holder?.name || request.externalName !== undefined)
    for (const request of holder ? others : [])
      reportCollision(context, request, `the service \`${holder!.name}\``, holder!.span)
    if (!holder) found.push(unite(context, name, list))
  }
  return sortBy(found, ({ name }) => name)
}

/**
 * Returns one alias for all requests of a name. As in Compose, services that request the name on a network of the first
 * service share the alias. Reports requests of other services as collisions.
 */
function unite(context: PlanContext, name: string, list: readonly AliasRequest[]): Alias {
  const [first] = list as readonly [AliasRequest, ...AliasRequest[]] // a list is made with its first request
  const networks = new Set(list.filter(isOf(first)).map(({ network }) => network))
  const isShared = ({ network }: AliasRequest) => network !== undefined && networks.has(network)
  const services = new Set([first.service, ...list.filter(isShared).map(({ service }) => service)])
  for (const request of list) {
    if (isOf(first)(request)) continue
    if (request.externalName !== undefined || !services.has(request.service))
      reportCollision(context, request, `that of \`${first.service}\``, first.span)
  }
  const { owner, key, span, externalName } = first
  const external = externalName !== undefined && { externalName }
  return { name, services: externalName === undefined ? [...services] : [], owner, key, span, ...external }
}

/** Returns true for requests that resolve to the same service as `first`. */
const isOf =
  (first: AliasRequest) =>
  ({ service, externalName }: AliasRequest): boolean =>
    service === first.service && externalName === first.externalName

function reportCollision({ reporter }: PlanContext, request: AliasRequest, other: string, span: Span): void {
  const what = {
    networks: 'the alias',
    links: 'the link alias',
    container_name: 'the container name',
    external_links: 'the link alias',
    hostname: 'the host name',
  }[request.key]
  reporter.report(collision, request.span, { name: request.name, what, other, service: request.service }, [
    { span, message: 'the other one is here' },
  ])
}

function* aliasRequests(
  context: PlanContext,
  service: Service,
  { mentions, dotted, calledOf, sameOf }: AliasFacts & { readonly sameOf: (network: string) => string },
): Generator<AliasRequest> {
  const { reporter, project, names } = context
  const own = names.of(service.name)
  const owner = service.name
  const called = calledOf(owner)
  if (called) yield { name: called.value, service: owner, owner, key: 'hostname', span: called.span }
  const container = service.containerName
  if (container && container.value !== service.name) {
    const name = container.value.toLowerCase()
    if (isServiceName(name)) {
      if (name !== own) yield { name, service: owner, owner, key: 'container_name', span: container.span }
    } else if (dotted.isSettled(name, owner)) {
      // A Pod has this name, or the uses of the name are reported.
    } else if (mentions.of(owner).some(({ host }) => host === name))
      reporter.report(notPossible, container.span, { alias: container.value, service: own })
    else reporter.report(containerName, container.span, { name: container.value, service: own })
  }
  for (const network of service.networks)
    for (const alias of network.aliases) {
      const name = alias.value.toLowerCase()
      if (dotted.isSettled(name, owner)) continue
      if (!isServiceName(name)) reporter.report(notPossible, alias.span, { alias: alias.value, service: own })
      else if (name !== own)
        yield { name, service: owner, owner, key: 'networks', span: alias.span, network: sameOf(network.name) }
    }
  for (const link of service.links) {
    const target = project.services.has(link.service) ? names.of(link.service) : undefined
    const name = link.alias.toLowerCase()
    if (target === undefined || link.alias === link.service || name === target) continue
    if (dotted.isSettled(name, link.service)) continue
    if (!isServiceName(name)) reporter.report(notPossible, link.span, { alias: link.alias, service: target })
    else yield { name, service: link.service, owner, key: 'links', span: link.span }
  }
  for (const link of service.externalLinks) {
    const name = link.alias.toLowerCase()
    const { namespace } = context.environment
    // A link under the service's own name needs no alias.
    if (link.alias === link.service && isServiceName(name)) continue
    const reason =
      !isServiceName(name) || !isServiceName(link.service)
        ? 'its names are not valid host names in Kubernetes'
        : namespace === undefined
          ? 'the namespace is unknown'
          : undefined
    if (reason) reporter.report(external, link.span, { name: link.service, reason })
    else
      yield {
        name,
        service: link.service,
        owner,
        key: 'external_links',
        span: link.span,
        externalName: `${link.service}.${namespace}.svc.cluster.local`,
      }
  }
}
