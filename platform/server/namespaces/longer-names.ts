import { ClusterError } from '../../../adapters/kubernetes/cluster.ts'
import { unlessForbidden } from '../../../environment/forbidden.ts'
import { MANAGER } from '../../records/names.ts'
import { LONGER_NAMES, type ManagedNamespace, toNamespace } from '../../records/namespace.ts'
import { longerNames, ownerOfHost, shorterNames } from '../../rules/hosts.ts'
import type { ServerContext } from '../context.ts'
import { PlatformError } from '../http/platform-error.ts'
import { listNamespaces } from './namespace-store.ts'
import { routeHosts } from './route-hosts.ts'

/** Maximum number of attempts to update an object that other writers update, too. */
const CONFLICTS = 10

/**
 * Resolves host conflicts between namespaces. A host that could belong to two namespaces, such as `web-shop-7` to `7`
 * and `shop-7`, belongs to the namespace with the longer name. The other namespace records the longer name, and does
 * not use these hosts.
 */
export class LongerNames {
  readonly #world: ServerContext

  constructor(world: ServerContext) {
    this.#world = world
  }

  /**
   * Reserves the hosts of a new namespace in all namespaces with a shorter name. Throws a PlatformError if one of these
   * namespaces already uses such a host.
   */
  async reserve(name: string, all: readonly ManagedNamespace[]): Promise<void> {
    const names = all.map(one => one.name)
    for (const shorter of shorterNames(name, names)) await this.#claim(all.find(one => one.name === shorter)!, name)
  }

  /**
   * Repeats the reservation of hosts after a namespace was created. When namespaces are created at the same time, none
   * of them sees the others before its creation.
   */
  async meet({ name, longerNames: known }: ManagedNamespace, all: readonly ManagedNamespace[]): Promise<void> {
    const names = all.map(one => one.name)
    const longer = longerNames(name, names)
    if (longer.some(one => !known.includes(one))) await this.#change(name, before => [...before, ...longer])
    // Reserves again: the reservation may have been dropped in the meantime, because the namespace did not exist yet,
    // and one of its hosts may be in use now.
    await this.reserve(name, all)
  }

  /** Releases the hosts that a namespace reserves for namespaces that no longer exist. */
  async forget(name: string, gone: ReadonlySet<string>): Promise<void> {
    await this.#change(name, names => names.filter(one => !gone.has(one)))
    // Restores the reservation for a namespace that was created again in the meantime, because it relies on the hosts
    // it has checked.
    const there = (await listNamespaces(this.#world.cluster)).flatMap(one => (gone.has(one.name) ? one.name : []))
    if (there.length > 0) await this.#change(name, names => [...names, ...there])
  }

  /** Reserves the hosts of `longer` in a namespace with a shorter name. */
  async #claim(shorter: ManagedNamespace, longer: string): Promise<void> {
    await this.#change(shorter.name, names => [...names, longer])
    if (shorter.longerNames.includes(longer)) return
    const taken = await unlessForbidden(this.#hostOf(longer, shorter.name), undefined)
    if (taken === undefined) return
    await this.#change(shorter.name, names => names.filter(one => one !== longer))
    throw new PlatformError(409, 'exists', `the host \`${taken}\` is in use, and would belong to \`${longer}\``, {
      hint: 'choose another name',
    })
  }

  /**
   * Returns a host of the new namespace `namespace` that the existing namespace `inNamespace` already uses; undefined
   * if there is none.
   */
  async #hostOf(namespace: string, inNamespace: string): Promise<string | undefined> {
    const { cluster, settings } = this.#world
    for await (const host of routeHosts(cluster, inNamespace))
      if (ownerOfHost(host, settings.domain, [namespace]) === namespace) return host
    return undefined
  }

  /** Changes the longer names for which a namespace reserves hosts, and preserves concurrent changes. */
  async #change(name: string, change: (names: readonly string[]) => readonly string[]): Promise<void> {
    const ref = { apiVersion: 'v1', kind: 'Namespace', name }
    for (let attempt = 1; ; attempt++) {
      const live = await this.#world.cluster.get(ref)
      const before = live && toNamespace(live)?.longerNames
      if (!before) return
      const wanted = [...new Set(change(before))].sort().join(',')
      if (wanted === before.join(',')) return
      const { resourceVersion } = live.metadata
      const patch = { metadata: { resourceVersion, annotations: { [LONGER_NAMES]: wanted } } }
      try {
        await this.#world.cluster.patch(ref, patch, { manager: MANAGER })
        return
      } catch (error) {
        if (!(error instanceof ClusterError) || error.failure !== 'conflict' || attempt >= CONFLICTS) throw error
      }
    }
  }
}
