import type { Cluster } from '../../adapters/kubernetes/cluster.ts'
import type { WorkloadPlan } from '../../compiler/plan/plan.ts'
import { at, listAt } from '../../gitops/agents/json-values.ts'
import type { Session } from '../../project/session.ts'
import type { CompiledForCluster } from './compile-for-cluster.ts'

/**
 * Service that still runs an older version of an image, because the deploy of the new version included only other
 * services.
 */
export interface LeftBehind {
  readonly service: string
  /** Service that was deployed and uses the same image. */
  readonly with: string
}

/**
 * Finds services that were not deployed, but share an image with a service that was, and run another version of that
 * image. Only built images count, because other references change only together with the files. Throws like
 * `Cluster.get`.
 */
export async function leftBehind(
  { cluster, namespace }: Pick<Session, 'cluster' | 'namespace'>,
  { plan, part, built }: Pick<CompiledForCluster, 'plan' | 'part' | 'built'>,
  signal: AbortSignal,
): Promise<readonly LeftBehind[]> {
  const images = new Set(built.values())
  if (!part || images.size === 0) return []
  const deployed = new Map(
    plan.workloads
      .filter(({ service }) => part.services.has(service))
      .flatMap(one => imagesOf(one).flatMap(image => (images.has(image) ? [[image, one.service] as const] : []))),
  )
  const others = plan.workloads.filter(({ kind, service }) => kind !== 'Job' && !part.services.has(service))
  const found = others.map(async (one): Promise<readonly LeftBehind[]> => {
    const shared = imagesOf(one).find(image => deployed.has(image))
    if (shared === undefined || !(await runsWithout(shared, one, { cluster, namespace }, signal))) return []
    return [{ service: one.service, with: deployed.get(shared)! }]
  })
  return (await Promise.all(found)).flat()
}

const imagesOf = ({ pod }: WorkloadPlan): readonly string[] =>
  [...pod.containers, ...pod.init.filter(({ sidecar }) => sidecar)].map(({ image }) => image)

async function runsWithout(
  image: string,
  { kind, name }: WorkloadPlan,
  { cluster, namespace }: { readonly cluster: Cluster; readonly namespace: string },
  signal: AbortSignal,
): Promise<boolean> {
  const live = await cluster.get({ apiVersion: 'apps/v1', kind, name, namespace }, { signal })
  if (live === undefined) return false
  const containers = ['containers', 'initContainers'].flatMap(key => listAt(live, 'spec', 'template', 'spec', key))
  return !containers.some(container => at(container, 'image') === image)
}
