/** A Kubernetes object as plain data, keys in the order in which they are printed. */
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

/** An object with what its file says about it. */
export interface Manifest {
  /** `compose.yaml#services.web`. */
  readonly source: string
  /** The folder of its file: a service in Kubernetes' form, or `_shared`. */
  readonly folder: string
  readonly object: KubernetesObject
}
