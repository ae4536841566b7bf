import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { DependencyPlan, Plan } from '../../compiler/plan/plan.ts'
import { isRoute, isWorkload, rankOf } from '../../constructs/kinds.ts'
import type { Manifest } from '../../constructs/manifest.ts'
import { SERVICE_LABEL } from '../labels.ts'

/** Object that should exist in the cluster. */
export interface DesiredObject {
  readonly object: KubeObject
  /** Source such as `compose.yaml#services.web`. */
  readonly source: string
}

/** Workload with the dependencies that must be met before it is applied. */
export interface DesiredWorkload extends DesiredObject {
  /** Service name in Kubernetes form. */
  readonly service: string
  readonly dependencies: readonly DependencyPlan[]
  /**
   * Services that the workload possibly depends on; set if its dependencies are not known. These services become ready
   * at the same time as the workload, not before it, and failures count as temporary until then.
   */
  readonly beside?: readonly string[]
  /**
   * True for a Job that serves requests. Such a Job counts as ready when its Pods are ready, although it may never
   * complete.
   */
  readonly isServer?: boolean
}

/** All objects that should exist in the cluster, in the order in which they are applied. */
export interface DesiredState {
  readonly environment: string
  readonly namespace: string
  /** Objects that workloads need: accounts, policies, configuration, claims, Services. */
  readonly before: readonly DesiredObject[]
  /** Workloads in dependency order. */
  readonly workloads: readonly DesiredWorkload[]
  /** Routes, which are applied last. */
  readonly after: readonly DesiredObject[]
}

/**
 * Sorts the objects of a plan into three groups: objects to apply before the workloads, the workloads, and objects to
 * apply after the workloads. Sets the namespace of every object.
 */
export function toDesiredState(plan: Plan, manifests: readonly Manifest[], namespace: string): DesiredState {
  const objects = manifests.map(({ object, source }) => ({
    source,
    object: { ...object, metadata: { ...object.metadata, namespace } } satisfies KubeObject,
  }))
  const dependencies = new Map(plan.workloads.map(({ service, dependencies }) => [service, dependencies ?? []]))
  const servers = new Set(plan.workloads.flatMap(one => (one.kind === 'Job' && one.isServer ? [one.service] : [])))
  const workloads = objects
    .filter(({ object }) => isWorkload(object))
    .map(wanted => {
      const service = serviceOf(wanted.object) ?? wanted.object.metadata.name
      const needs = { service, dependencies: dependencies.get(service) ?? [] }
      return { ...wanted, ...needs, ...(servers.has(service) && { isServer: true }) }
    })
  const others = objects.filter(({ object }) => !isWorkload(object))
  return {
    environment: plan.environment.name,
    namespace,
    before: sortBy(
      others.filter(({ object }) => !isRoute(object)),
      ({ object }) => rankOf(object.kind) ?? -1,
    ),
    workloads: inOrder(workloads),
    after: others.filter(({ object }) => isRoute(object)),
  }
}

/** Returns the service that an object belongs to, in Kubernetes form; undefined for objects that services share. */
export const serviceOf = ({ metadata }: KubeObject): string | undefined => metadata.labels?.[SERVICE_LABEL]

/** Returns the name of an object in kubectl notation, such as `deployment/web`. */
export const nameOf = ({ kind, metadata }: KubeObject): string => `${kind.toLowerCase()}/${metadata.name}`

/** Returns all objects of a deploy. */
export const allOf = ({ before, workloads, after }: DesiredState): readonly DesiredObject[] => [
  ...before,
  ...workloads,
  ...after,
]

function sortBy<T>(items: readonly T[], rank: (item: T) => number): readonly T[] {
  return [...items].sort((a, b) => rank(a) - rank(b))
}

/** Sorts workloads so that dependencies come first. The compiler has rejected cycles. */
function inOrder(workloads: readonly DesiredWorkload[]): readonly DesiredWorkload[] {
  const byService = new Map(workloads.map(workload => [workload.service, workload]))
  const ordered = new Set<DesiredWorkload>()
  const visit = (workload: DesiredWorkload): void => {
    if (ordered.has(workload)) return
    for (const { service } of workload.dependencies) {
      const needed = byService.get(service)
      if (needed && needed !== workload) visit(needed)
    }
    ordered.add(workload)
  }
  for (const workload of workloads) visit(workload)
  return [...ordered]
}
