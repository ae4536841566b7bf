import { pause } from '../../../adapters/http/back-off.ts'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { ASLEEP, restingHosts, toResting } from '../../records/asleep.ts'
import { MANAGED_LABEL, rfc3339 } from '../../records/names.ts'
import { type ManagedNamespace, toNamespace } from '../../records/namespace.ts'
import type { ServerContext } from '../context.ts'

/** Pause before a failed watch is restarted, in milliseconds. */
const AGAIN = 5000

interface Indexed {
  readonly namespace: ManagedNamespace
  readonly awakeSince: number
  /**
   * The `asleep` annotation, and the hosts in it. For a namespace that is awake, these are the values of its last
   * sleep. The annotation is undefined if no sleep was observed.
   */
  readonly asleep: string | undefined
  readonly hosts: ReadonlySet<string>
}

/**
 * The namespaces of the platform, kept up to date by a watch. The index is used for requests from outside the cluster,
 * because each of them needs this data.
 */
export class NamespaceIndex {
  readonly #world: ServerContext
  readonly #all = new Map<string, Indexed>()
  #isListed = false

  constructor(world: ServerContext) {
    this.#world = world
  }

  /** True once the list of all namespaces is complete. */
  get isListed(): boolean {
    return this.#isListed
  }

  names(): Iterable<string> {
    return this.#all.keys()
  }

  *all(): Iterable<ManagedNamespace> {
    for (const { namespace } of this.#all.values()) yield namespace
  }

  find(name: string): ManagedNamespace | undefined {
    return this.#all.get(name)?.namespace
  }

  /**
   * Returns the time at which the namespace was seen to wake up, in milliseconds since 1970; 0 if it has been awake
   * since the watch was started.
   */
  awakeSince(name: string): number {
    return this.#all.get(name)?.awakeSince ?? 0
  }

  /**
   * Returns true if a route of the namespace with this host is asleep, or was asleep during the namespace's last sleep.
   */
  hasSleepingHost(name: string, host: string): boolean {
    return this.#all.get(name)?.hosts.has(host) ?? false
  }

  /** Watches the namespaces until the signal is aborted, and restarts the watch after errors. */
  async follow(signal: AbortSignal): Promise<void> {
    const { log, now } = this.#world
    while (!signal.aborted) {
      await this.#watch(signal).catch(error => {
        if (!signal.aborted) log({ time: rfc3339(now()), text: `following the namespaces: ${error}` })
      })
      await pause(AGAIN, signal).catch(() => {})
    }
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { cluster } = this.#world
    const query = { apiVersion: 'v1', kind: 'Namespace', labels: `${MANAGED_LABEL}=true` }
    const listed = new Set<string>()
    for await (const change of cluster.watch(query, { signal })) {
      if (change.type === 'Restarted') listed.clear()
      if (change.type === 'Changed') {
        listed.add(change.object.metadata.name)
        this.#set(change.object)
      }
      if (change.type === 'Deleted') this.#all.delete(change.object.metadata.name)
      if (change.type !== 'Listed') continue
      for (const name of this.#all.keys()) if (!listed.has(name)) this.#all.delete(name)
      this.#isListed = true
    }
  }

  #set(object: KubeObject): void {
    const { name } = object.metadata
    const namespace = toNamespace(object)
    if (!namespace) return void this.#all.delete(name)
    const known = this.#all.get(name)
    const before = known?.namespace.uid === namespace.uid ? known : undefined
    const isAwakeNow = namespace.status === 'Active' && before !== undefined && before.namespace.status !== 'Active'
    const asleep = object.metadata.annotations?.[ASLEEP] ?? before?.asleep
    const isSame = before !== undefined && asleep === before.asleep
    this.#all.set(name, {
      namespace,
      awakeSince: isAwakeNow ? this.#world.now() : (before?.awakeSince ?? 0),
      asleep,
      hosts: isSame ? before.hosts : restingHosts(toResting(asleep)),
    })
  }
}
