import type { PodPlan } from '../../compiler/plan/plan.ts'
import { type PodIdentity, toAffinity, toTopologySpread } from './affinity.ts'
import { toContainer, toSidecar } from './container.ts'
import { fillContainers } from './fill.ts'
import { takeName, takenNames } from './helper.ts'
import type { PodSpec } from './newer-fields.ts'
import { onceContainer } from './once.ts'
import { toPodSecurityContext } from './security.ts'
import { planTools } from './tools.ts'
import { toVolume } from './volumes.ts'
import { toTokenVolume, waitContainers, waitsForJob } from './wait-for.ts'

/** Input for the specification of a Pod, in addition to its plan. */
export interface PodContext {
  readonly identity: PodIdentity
  /** Labels for claims that live as long as the Pod. */
  readonly labels: Readonly<Record<string, string>>
  /** Restart policy. If absent, Kubernetes uses its default, Always. */
  readonly restartPolicy?: 'Never' | 'OnFailure'
  /** Returns the name of a service's Job, which ends in a hash of the Job's content. */
  readonly jobName: (service: string) => string
  /** Name of the ServiceAccount that may read the Jobs that the Pod waits for. */
  readonly waiterAccount: string
}

/**
 * Returns the specification of a Pod. Its init containers run in this order: tools, waits, fills, and the plan's own.
 */
export function toPodSpec(plan: PodPlan, context: PodContext): PodSpec {
  const taken = takenNames(plan)
  const tools = planTools(plan, taken)
  const tokenVolume = waitsForJob(plan) ? takeName('wait-token', taken.volumes) : undefined
  const waits = waitContainers(plan, { taken, tools, tokenVolume, jobName: context.jobName })
  const fills = fillContainers(plan, tools, taken)
  const initContainers = [
    ...[...(tools ? [tools.container] : []), ...waits, ...fills].map(toContainer),
    ...plan.init.map(container => (container.sidecar ? toSidecar(container) : toContainer(container))),
  ]
  const volumes = [
    ...[...plan.volumes, ...(tools ? [tools.volume] : [])].map(volume => toVolume(volume, context.labels)),
    ...(tokenVolume ? [toTokenVolume(tokenVolume)] : []),
  ]
  // A single literal, because V8 is slow at adding this many members to a spread object.
  return {
    nodeSelector: plan.nodeSelector && Object.keys(plan.nodeSelector).length ? { ...plan.nodeSelector } : undefined,
    affinity: toAffinity(plan, context.identity),
    topologySpreadConstraints: toTopologySpread(plan, context.identity),
    hostname: plan.hostname,
    subdomain: plan.subdomain,
    hostNetwork: plan.hostNetwork || undefined,
    // The default policy would give such a Pod the node's DNS resolver, which does not know Services.
    dnsPolicy: plan.hostNetwork ? 'ClusterFirstWithHostNet' : undefined,
    dnsConfig: plan.dns && toDnsConfig(plan.dns),
    hostAliases: plan.hostAliases?.length ? plan.hostAliases.map(toHostAlias) : undefined,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    hostIpc: plan.hostIPC || undefined,
    hostPid: plan.hostPID || undefined,
    hostUsers: plan.hostUsers,
    shareProcessNamespace: plan.shareProcessNamespace || undefined,
    runtimeClassName: plan.runtimeClassName,
    securityContext: toPodSecurityContext(plan),
    serviceAccountName: plan.serviceAccount ?? accountName(context, tokenVolume),
    terminationGracePeriodSeconds: plan.terminationGracePeriodSeconds,
    restartPolicy: context.restartPolicy,
    imagePullSecrets: plan.pullSecrets?.length ? plan.pullSecrets.map(name => ({ name })) : undefined,
    initContainers: initContainers.length ? initContainers : undefined,
    containers: plan.containers.map(container => toContainer(onceContainer(container, tools))),
    volumes: volumes.length ? volumes : undefined,
  }
}

/**
 * Returns the name of a Pod's service account. If an earlier version may have used another account, returns the default
 * account explicitly: without `serviceAccountName`, the API server would keep the old name in the deprecated
 * `serviceAccount`, and refuse the Pods once the old account is deleted. Returns undefined for the Pods of Jobs, which
 * need no explicit default because Jobs are immutable.
 */
function accountName(
  { waiterAccount, restartPolicy }: PodContext,
  tokenVolume: string | undefined,
): string | undefined {
  if (tokenVolume) return waiterAccount
  return restartPolicy === undefined ? 'default' : undefined
}

const toDnsConfig = ({ nameservers, searches, options }: NonNullable<PodPlan['dns']>) => ({
  nameservers: nameservers?.length ? [...nameservers] : undefined,
  searches: searches?.length ? [...searches] : undefined,
  options: options?.length ? options.map(({ name, value }) => ({ name, value })) : undefined,
})

const toHostAlias = ({ ip, hostnames }: NonNullable<PodPlan['hostAliases']>[number]) => ({
  ip,
  hostnames: [...hostnames],
})
