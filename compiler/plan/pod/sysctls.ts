import type { Pair, Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { PlanContext } from '../context.ts'
import type { PodPlan } from '../plan.ts'

const unsafe = diagnostic({
  code: 'sysctls/unsafe',
  severity: 'warning',
  loss: true,
  explain:
    'By default Kubernetes allows only safe sysctls, which do not affect other Pods. The kubelet refuses a Pod with an unsafe sysctl unless the node allows it, so the sysctl is left out.',
  text: (p: { name: string }) => ({
    message: `the unsafe sysctl \`${p.name}\` is refused by most clusters and is left out`,
    hint: 'set it on the nodes',
  }),
})

const withHostNetwork = diagnostic({
  code: 'sysctls/host-network',
  severity: 'error',
  explain:
    'With `network_mode: host` the Pod uses the network of its node and must not change its settings: Kubernetes refuses `net.*` sysctls. With `ipc: host` it refuses those of IPC: `kernel.shm*`, `kernel.msg*`, `kernel.sem` and `fs.mqueue.*`. Remove one of the two.',
  text: (p: { name: string; key: string }) => ({
    message: `\`${p.name}\` cannot be combined with \`${p.key}: host\``,
    hint: 'remove one of the two',
  }),
})

const disagree = diagnostic({
  code: 'sysctls/disagree',
  severity: 'error',
  explain:
    'Services that share a namespace are containers of one Pod, which has one value for each sysctl. Give them the same value, or set it on one only.',
  text: (p: { name: string }) => ({ message: `two services of one Pod set different values for \`${p.name}\`` }),
})

/** Safe sysctls: https://kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster/#safe-and-unsafe-sysctls */
const safe: ReadonlySet<string> = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
])

/**
 * Returns true if a sysctl is safe and every version of Pod Security `baseline` allows it. Sysctls added after
 * Kubernetes 1.29 are safe, but not yet allowed by every version.
 */
export const isBaselineSysctl = (name: string): boolean => safe.has(name) && !/tcp_[rw]mem$/.test(name)

/** True for each namespace that a Pod shares with its node, by the key in the Compose file. */
type NodeNamespaces = Readonly<Record<'network_mode' | 'ipc', boolean>>

/**
 * Returns the Compose key of the namespace that a sysctl belongs to in Kubernetes; undefined for sysctls of other
 * namespaces.
 */
function namespaceOf(sysctl: string): keyof NodeNamespaces | undefined {
  if (sysctl.startsWith('net.')) return 'network_mode'
  return /^(kernel\.(shm|msg)|kernel\.sem$|fs\.mqueue\.)/.test(sysctl) ? 'ipc' : undefined
}

/** Plans the kernel parameters of a Pod, sorted. Reports parameters that clusters refuse. */
export function planSysctls(
  { reporter }: PlanContext,
  services: readonly Service[],
  isHost: NodeNamespaces,
): NonNullable<PodPlan['sysctls']> {
  const found = new Map<string, Pair>()
  for (const pair of services.flatMap(({ sysctls }) => sysctls)) {
    const { name, span, key = span } = pair
    const other = found.get(name)
    const namespace = namespaceOf(name)
    if (namespace && isHost[namespace]) reporter.report(withHostNetwork, key, { name, key: namespace })
    else if (!safe.has(name)) reporter.report(unsafe, key, { name })
    else if (other && other.value !== pair.value)
      reporter.report(disagree, span, { name }, [
        { span: other.span, message: `\`${name}\` is \`${other.value}\` here` },
      ])
    else found.set(name, pair)
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ name, value }) => ({ name, value }))
}
