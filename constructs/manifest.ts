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
