import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { unlessForbidden } from '../forbidden.ts'

/**
 * Warning that the cluster has recorded about an object
 * (https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/).
 */
export interface Warning {
  readonly reason: string
  readonly message: string
  /** Number of occurrences. */
  readonly count: number
  /** Time of the last occurrence, in milliseconds since 1970. */
  readonly time: number
  readonly about: {
    readonly kind: string
    readonly name: string
    readonly uid: string
    /** Container of the Pod; absent if the warning is about the whole Pod, or another object. */
    readonly container?: string
  }
}

interface EventFields {
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string }
  readonly lastTimestamp?: string | null
  readonly eventTime?: string | null
  readonly involvedObject?: {
    readonly kind?: string
    readonly name?: string
    readonly uid?: string
    /** Part of the object, such as `spec.containers{web}`. */
    readonly fieldPath?: string
  }
}

/** Returns the content of an Event of type Warning. */
export function toWarning(event: KubeObject): Warning {
  const fields = event as unknown as EventFields // the server has checked its shape
  const { reason = '', message = '', involvedObject: { kind = '', name = '', uid = '', fieldPath = '' } = {} } = fields
  const container = /\{(.+)\}$/.exec(fieldPath)?.[1]
  const time =
    fields.series?.lastObservedTime ?? fields.lastTimestamp ?? fields.eventTime ?? event.metadata.creationTimestamp
  return {
    reason,
    message: message.trim(),
    count: fields.series?.count ?? fields.count ?? 1,
    time: time ? Date.parse(time) : 0,
    about: { kind, name, uid, ...(container !== undefined && { container }) },
  }
}

/** Returns the warnings without those about another container of the Pod. */
export const aboutContainer = (warnings: readonly Warning[], container: string | undefined): readonly Warning[] =>
  container === undefined
    ? warnings
    : warnings.filter(({ about }) => about.container === undefined || about.container === container)

/** Known warnings of a namespace, by the object that they are about. */
export class Warnings {
  readonly #byName = new Map<string, Warning>()
  /** Warnings by the UID of the object they are about, and by the name of the event. */
  readonly #byUid = new Map<string, Map<string, Warning>>()

  set(event: KubeObject): void {
    const { name } = event.metadata
    const warning = toWarning(event)
    const { uid } = warning.about
    this.delete(event)
    this.#byName.set(name, warning)
    const others = this.#byUid.get(uid)
    if (others) others.set(name, warning)
    else this.#byUid.set(uid, new Map([[name, warning]]))
  }

  delete({ metadata: { name } }: KubeObject): void {
    const known = this.#byName.get(name)
    if (!known) return
    this.#byName.delete(name)
    const others = this.#byUid.get(known.about.uid)
    others?.delete(name)
    if (others?.size === 0) this.#byUid.delete(known.about.uid)
  }

  clear(): void {
    this.#byName.clear()
    this.#byUid.clear()
  }

  /** Returns the warnings about an object, newest last. */
  about({ metadata: { uid } }: KubeObject): readonly Warning[] {
    return [...(this.#byUid.get(uid ?? '')?.values() ?? [])].sort((a, b) => a.time - b.time)
  }
}

/** Returns the current warnings of a namespace; none for users without permission to read events. */
export async function listWarnings(cluster: Cluster, namespace: string, options: CallOptions): Promise<Warnings> {
  const asked = cluster.list({ apiVersion: 'v1', kind: 'Event', namespace, fields: 'type=Warning' }, options)
  const warnings = new Warnings()
  for (const event of await unlessForbidden(asked, [])) warnings.set(event)
  return warnings
}
