import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { Plan } from '../../compiler/plan/plan.ts'
import { isRoute, isWorkload, podSelectorOf } from '../../constructs/kinds.ts'
import { type KubernetesObject, type Manifest, templateOf } from '../../constructs/manifest.ts'
import { servicesBehind } from '../endpoints/routes.ts'
import { SERVICE_LABEL } from '../labels.ts'
import { serviceOf } from './desired-state.ts'
import { referencesOf, referenceTo } from './references.ts'

/**
 * Returns the services, all their direct and indirect dependencies, and the services in the same Pods. Accepts and
 * returns names in Kubernetes form.
 */
export function withDependencies({ workloads }: Plan, services: Iterable<string>): ReadonlySet<string> {
  const byMember = new Map(workloads.flatMap(one => one.pod.services.map(member => [member, one] as const)))
  const found = new Set<string>()
  const queue = [...services]
  for (let service = queue.pop(); service !== undefined; service = queue.pop()) {
    if (found.has(service)) continue
    found.add(service)
    const workload = byMember.get(service)
    queue.push(...(workload?.pod.services ?? []), ...(workload?.dependencies ?? []).map(one => one.service))
  }
  return found
}

/** Returns the services, and the other services in the same Pods. Accepts and returns names in Kubernetes form. */
export function withMembers({ workloads }: Plan, services: Iterable<string>): ReadonlySet<string> {
  const wanted = [...services]
  const shared = workloads.filter(({ pod }) => pod.services.some(member => wanted.includes(member)))
  return new Set([...wanted, ...shared.flatMap(({ pod }) => pod.services)])
}

/**
 * Returns those manifests that belong to some services, without changing the order: the objects labelled with these
 * services, and the shared objects that they use. Pass the manifests of the full application: services that share a
 * volume or a Job name are rendered differently if one of them is missing.
 */
export function manifestsOf(manifests: readonly Manifest[], services: ReadonlySet<string>): readonly Manifest[] {
  const own = manifests.map(({ object }) => object).filter(object => services.has(serviceOf(object) ?? ''))
  const references = new Set(own.filter(isWorkload).flatMap(object => [...referencesOf(object)]))
  const serviceNames = new Set(own.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name))
  const podLabels = own.filter(isWorkload).map(labelsOfPods)
  const isUsed = (object: KubernetesObject): boolean => {
    const service = serviceOf(object)
    if (service !== undefined) return services.has(service)
    if (isRoute(object)) return servicesBehind(object).some(name => serviceNames.has(name))
    if (podSelectorOf(object)) return podLabels.some(labels => selects(object, labels))
    return references.has(referenceTo(object))
  }
  return manifests.filter(({ object }) => isUsed(object))
}

type Labels = Readonly<Record<string, string>>

function labelsOfPods(workload: KubernetesObject): Labels {
  return templateOf<{ readonly metadata?: { labels?: Labels } }>(workload)?.metadata?.labels ?? {}
}

/** Returns true if an object selects Pods with these labels. devctl writes no selectors with expressions. */
function selects(object: KubernetesObject, labels: Labels): boolean {
  const spec = (object['spec'] ?? {}) as Readonly<Record<string, { readonly matchLabels?: Labels } | undefined>> // its spec
  const { matchLabels = {} } = spec[podSelectorOf(object) ?? ''] ?? {}
  return Object.entries(matchLabels).every(([name, value]) => labels[name] === value)
}

/**
 * Returns the objects of some services, selected from the objects of the environment: those labelled with these
 * services, and shared objects that no other service uses.
 */
export function objectsOfServices(
  objects: readonly KubeObject[],
  services: ReadonlySet<string>,
): readonly KubeObject[] {
  const isOwn = (object: KubeObject) => services.has(serviceOf(object) ?? '')
  const workloads = objects.filter(isWorkload)
  const used = (own: boolean) =>
    new Set(workloads.filter(one => isOwn(one) === own).flatMap(one => [...referencesOf(one)]))
  const [byThese, byOthers] = [used(true), used(false)]
  const podLabels = (own: boolean) => workloads.filter(one => isOwn(one) === own).map(labelsOfPods)
  const [labelsOfThese, labelsOfOthers] = [podLabels(true), podLabels(false)]
  const serviceNames = new Set(
    objects.filter(one => one.kind === 'Service' && isOwn(one)).map(one => one.metadata.name),
  )
  return objects.filter(object => {
    if (serviceOf(object) !== undefined || isWorkload(object)) return isOwn(object)
    if (isRoute(object)) {
      const backends = servicesBehind(object)
      return backends.length > 0 && backends.every(name => serviceNames.has(name))
    }
    if (podSelectorOf(object))
      return labelsOfThese.some(one => selects(object, one)) && !labelsOfOthers.some(one => selects(object, one))
    return byThese.has(referenceTo(object)) && !byOthers.has(referenceTo(object))
  })
}

/**
 * Maps each service that runs in the Pods of another service to that other service, according to the selector of its
 * Service object.
 */
export function leadsOf(objects: readonly KubeObject[]): ReadonlyMap<string, string> {
  const leads = new Map<string, string>()
  for (const object of objects) {
    const { selector } = (object['spec'] ?? {}) as { readonly selector?: Labels } // a Service's spec
    const [own, lead] = [serviceOf(object), object.kind === 'Service' ? selector?.[SERVICE_LABEL] : undefined]
    if (own !== undefined && lead !== undefined && own !== lead) leads.set(own, lead)
  }
  return leads
}
