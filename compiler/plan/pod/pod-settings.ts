import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { isDnsSubdomain } from '../../values/dns-name.ts'
import { type PlanContext, sortBy } from '../context.ts'
import { toDnsLabel } from '../object-names.ts'
import type { PodPlan, WorkloadPlan } from '../plan.ts'
import { seesSystemPaths } from './security.ts'
import { planSysctls } from './sysctls.ts'

const dottedHostname = diagnostic({
  code: 'hostname/dotted',
  severity: 'warning',
  loss: true,
  explain:
    'The host name of a Pod is one DNS label: lower-case letters, digits and `-`, without dots. devctl uses the nearest valid label; a domain cannot be set.',
  text: (p: { written: string; name: string }) => ({
    message: `the host name \`${p.written}\` becomes \`${p.name}\` in Kubernetes`,
    hint: `write \`${p.name}\``,
  }),
})

const hostGateway = diagnostic({
  code: 'extra-hosts/host-gateway',
  severity: 'warning',
  loss: true,
  explain:
    '`host-gateway` is the machine that runs the container engine. Pods run on the nodes of a cluster and cannot reach services on your machine. The entry is left out.',
  text: (p: { host: string }) => ({
    message: `\`host-gateway\` has no equivalent in Kubernetes; the extra host \`${p.host}\` is left out`,
    hint: 'use an address that the cluster can reach',
  }),
})

const badHost = diagnostic({
  code: 'extra-hosts/bad-name',
  severity: 'warning',
  loss: true,
  explain:
    '`hostAliases` in Kubernetes accepts DNS names only: lower-case letters, digits, `-` and `.`. The entry is left out.',
  text: (p: { host: string }) => ({
    message: `the extra host \`${p.host}\` is not a valid DNS name and is left out`,
    hint: 'use letters, digits, `-` and `.`',
  }),
})

const dnsLimit = diagnostic({
  code: 'dns/limit',
  severity: 'warning',
  loss: true,
  explain:
    'A Pod has at most three name servers and 32 search domains, including those of the cluster. The name server of the cluster stays the first, because it resolves the services. Entries beyond the limit are never used.',
  text: (p: { key: string; value: string; most: number }) => ({
    message: `\`${p.value}\` in \`${p.key}\` is never used: a Pod can have ${p.most} besides the cluster's own`,
    hint: 'remove it',
  }),
})

const noSearchDomains = diagnostic({
  code: 'dns/cluster-domains-stay',
  severity: 'warning',
  loss: true,
  explain:
    '`dns_search: .` removes all search domains. A Pod keeps the search domains of the cluster, with which service names resolve.',
  text: () => ({
    message: '`.` in `dns_search` has no effect: a Pod keeps the search domains of the cluster',
    hint: 'remove it; a name that ends with a dot is looked up as it is',
  }),
})

const hostNetwork = diagnostic({
  code: 'network/host-mode',
  severity: 'warning',
  loss: true,
  explain:
    '`network_mode: host` gives the Pod the network of the node where it runs, not of your machine. It opens ports of the node, so two such Pods with the same port cannot run on one node. The Pod Security levels `baseline` and `restricted` refuse it.',
  text: () => ({
    message: '`network_mode: host` uses the network of the node where the Pod runs',
    hint: 'remove it: other services reach the ports by service name',
  }),
})

const unknownMode = diagnostic({
  code: 'network/unknown-mode',
  severity: 'warning',
  loss: true,
  explain:
    '`network_mode` is `bridge`, `host`, `none` or `service:NAME`. Network names of the container engine have no equivalent in Kubernetes; the service gets the Pod network.',
  text: (p: { mode: string }) => ({
    message: `\`network_mode: ${p.mode}\` has no equivalent; the service gets the Pod network`,
  }),
})

const namespace = diagnostic({
  code: 'isolation/namespace',
  severity: 'warning',
  loss: true,
  explain:
    'The key selects a kernel namespace that a Pod cannot choose: `uts: host` comes only with `network_mode: host`, and `ipc: none` does not exist. `pid`, `ipc` and `uts` accept `host`, `private`, `service:NAME` and `container:NAME`, and `ipc` also `shareable`; other values have no equivalent in Kubernetes. The key is left out.',
  text: (p: { key: string; value: string }) => ({
    message: `\`${p.key}: ${p.value}\` has no equivalent and is left out`,
  }),
})

const hostNamespace = diagnostic({
  code: 'isolation/host-namespace',
  severity: 'warning',
  loss: true,
  explain:
    '`pid: host` and `ipc: host` share the processes and the shared memory of the node where the Pod runs, not of your machine. The Pod Security levels `baseline` and `restricted` refuse such Pods.',
  text: (p: { key: string }) => ({ message: `\`${p.key}: host\` means the node where the Pod runs` }),
})

const disagreement = diagnostic({
  code: 'groups/disagree',
  severity: 'error',
  explain:
    'Services that share a namespace are containers of one Pod, and this is a setting of the Pod. Two of them set different values. Give them the same value, or set it on one only.',
  text: (p: { key: string; services: readonly [string, string] }) => ({
    message: `\`${p.services[0]}\` and \`${p.services[1]}\` run in one Pod but set different values for \`${p.key}\``,
    hint: 'set it on one of them, or the same value on both',
  }),
})

/** Returns true if the Pod of these services uses the network of its node. */
export const isOnHostNetwork = (services: readonly Service[]): boolean =>
  services.some(({ networkMode }) => networkMode?.value === 'host')

/**
 * Plans the Pod settings that come from single keys of its services. Reports settings that a Pod does not support, and
 * settings that differ between its services.
 */
export function planPodSettings(
  context: PlanContext,
  services: readonly Service[],
  kind: WorkloadPlan['kind'],
): Partial<PodPlan> {
  for (const service of services) checkModes(context, service)
  const isHost = isOnHostNetwork(services)
  const hostname = agreed(context, 'hostname', services, service => planHostname(context, service))
  const runtime = agreed(context, 'runtime', services, ({ runtime }) => runtime?.value)
  const hostPID = services.some(({ pid }) => pid?.value === 'host')
  const hostIPC = services.some(({ ipc }) => ipc?.value === 'host')
  const sharesProcesses =
    !hostPID && services.some(({ init, pid }) => init?.value || /^(service|container):/.test(pid?.value ?? ''))
  const sysctls = planSysctls(context, services, { network_mode: isHost, ipc: hostIPC })
  const dns = planDns(context, services)
  const hostAliases = planHostAliases(context, services)
  return {
    // The controller of a StatefulSet overwrites the host name.
    ...(hostname && kind !== 'StatefulSet' && { hostname }),
    ...(isHost && { hostNetwork: true }),
    ...(hostPID && { hostPID: true }),
    ...(hostIPC && { hostIPC: true }),
    // If the containers share one process namespace, the first process of the Pod reaps orphaned processes, as `init:
    // true` requires.
    ...(sharesProcesses && { shareProcessNamespace: true }),
    // Kubernetes exposes all of /proc only to Pods in a user namespace.
    ...(seesSystemPaths(services) && { hostUsers: false }),
    ...(runtime && runtime !== 'runc' && { runtimeClassName: runtime }),
    ...(hostAliases.length > 0 && { hostAliases }),
    ...(dns && { dns }),
    ...(sysctls.length > 0 && { sysctls }),
  }
}

/**
 * Returns the value of a Pod setting, which has to be the same in all services that set it. If the values differ,
 * reports the services and returns the first value.
 */
export function agreed(
  { reporter }: PlanContext,
  key: string,
  services: readonly Service[],
  value: (service: Service) => string | undefined,
): string | undefined {
  let found: { readonly value: string; readonly service: Service } | undefined
  for (const service of services) {
    const own = value(service)
    if (own === undefined) continue
    if (found && found.value !== own)
      reporter.report(disagreement, service.span, { key, services: [found.service.name, service.name] }, [
        { span: found.service.span, message: `\`${found.service.name}\` is here` },
      ])
    found ??= { value: own, service }
  }
  return found?.value
}

function planHostname({ reporter }: PlanContext, { hostname }: Service): string | undefined {
  if (!hostname) return undefined
  const name = toDnsLabel(hostname.value.split('.')[0] ?? '')
  // Case does not matter in DNS.
  if (name !== hostname.value.toLowerCase())
    reporter.report(dottedHostname, hostname.span, { written: hostname.value, name })
  return name
}

function checkModes({ reporter }: PlanContext, service: Service): void {
  const { networkMode: mode, pid, ipc, uts } = service
  if (mode?.value === 'host') reporter.report(hostNetwork, mode.span, undefined)
  else if (mode && !/^(bridge|default|none|(service|container):.*)$/.test(mode.value))
    reporter.report(unknownMode, mode.span, { mode: mode.value })
  if (pid?.value === 'host') reporter.report(hostNamespace, pid.span, { key: 'pid' })
  if (ipc?.value === 'host') reporter.report(hostNamespace, ipc.span, { key: 'ipc' })
  for (const [key, field] of Object.entries({ pid, ipc, uts })) {
    // The node's network namespace includes the node's host name.
    const comesWithNetwork = key === 'uts' && mode?.value === 'host'
    const isKept = POD_MODES[key as keyof typeof POD_MODES].test(field?.value ?? '') // the keys above
    if (field && !isKept && !(comesWithNetwork && field.value === 'host'))
      reporter.report(namespace, field.span, { key, value: field.value })
  }
}

/** Patterns of the modes that a Pod supports or has by default, by key. */
const POD_MODES = {
  pid: /^(|private|host|(service|container):.*)$/,
  ipc: /^(|private|shareable|host|(service|container):.*)$/,
  uts: /^(|private|(service|container):.*)$/,
}

/**
 * Plans the DNS settings. Kubernetes accepts up to three name servers and 32 search domains. The cluster itself needs
 * one name server and three search domains.
 */
function planDns({ reporter }: PlanContext, services: readonly Service[]): PodPlan['dns'] {
  const limited = (
    key: string,
    list: readonly { readonly value: string; readonly span: Service['span'] }[],
    most: number,
  ) => {
    const seen = new Map(list.map(item => [item.value, item]))
    const unique = [...seen.values()]
    for (const { value, span } of unique.slice(most)) reporter.report(dnsLimit, span, { key, value, most })
    return unique.slice(0, most).map(({ value }) => value)
  }
  const nameservers = limited(
    'dns',
    services.flatMap(({ dns }) => dns),
    2,
  )
  const domains = services.flatMap(({ dnsSearch }) => dnsSearch)
  for (const { value, span } of domains) if (value === '.') reporter.report(noSearchDomains, span, undefined)
  const searches = limited(
    'dns_search',
    domains.filter(({ value }) => value !== '.'),
    29,
  )
  const options = services
    .flatMap(({ dnsOpt }) => dnsOpt)
    .map(({ value }) => {
      const colon = value.indexOf(':')
      return colon < 0 ? { name: value } : { name: value.slice(0, colon), value: value.slice(colon + 1) }
    })
  if (nameservers.length + searches.length + options.length === 0) return undefined
  return {
    ...(nameservers.length > 0 && { nameservers }),
    ...(searches.length > 0 && { searches }),
    ...(options.length > 0 && { options }),
  }
}

function planHostAliases({ reporter }: PlanContext, services: readonly Service[]): NonNullable<PodPlan['hostAliases']> {
  const byAddress = new Map<string, Set<string>>()
  for (const { host, address, span } of services.flatMap(({ extraHosts }) => extraHosts)) {
    const name = host.toLowerCase()
    if (address === 'host-gateway') reporter.report(hostGateway, span, { host })
    else if (!isDnsSubdomain(name)) reporter.report(badHost, span, { host })
    else byAddress.set(address, (byAddress.get(address) ?? new Set()).add(name))
  }
  return sortBy(byAddress, ([ip]) => ip).map(([ip, hostnames]) => ({ ip, hostnames: [...hostnames].sort() }))
}
