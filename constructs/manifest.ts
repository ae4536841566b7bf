/** A Kubernetes object as plain data, with its keys in print order. */
export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly [key: string]: unknown
}

/** An object with its source and the folder of its file. */
export interface Manifest {
  /** Place in the Compose file that describes the object, such as `compose.yaml#services.web`. */
  readonly source: string
  /** Folder of the manifest file: the Kubernetes name of a service, or `_shared`. */
  readonly folder: string
  readonly object: KubernetesObject
}

interface Spec<T> {
  readonly template?: T
  readonly jobTemplate?: { readonly spec?: { readonly template?: T } }
}

/**
 * Returns the Pod template of a workload; undefined for objects without one. A CronJob has its Pod template inside the
 * template of its Jobs. `T` has the fields that the caller reads.
 */
export function templateOf<T>({ spec }: Pick<KubernetesObject, 'kind'> & { readonly spec?: unknown }): T | undefined {
  const { template, jobTemplate } = (spec ?? {}) as Spec<T> // the spec of an object
  return jobTemplate?.spec?.template ?? template
}

/** Containers of the spec of a Pod. */
interface Containers<C> {
  readonly containers?: readonly C[]
  readonly initContainers?: readonly C[]
}

/**
 * Returns the containers of a Pod that keep running: the regular containers, then the sidecars, which are init
 * containers that are always restarted.
 */
export const lastingContainers = <C extends object>({
  containers = [],
  initContainers = [],
}: Containers<C>): readonly C[] => [...containers, ...initContainers.filter(isSidecar)]

/** True for an init container that is always restarted. */
export const isSidecar = (container: object): boolean =>
  'restartPolicy' in container && container.restartPolicy === 'Always'
