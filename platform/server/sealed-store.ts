import { backOff, pause } from '../../adapters/http/back-off.ts'
import { ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { MANAGER, rfc3339 } from '../records/names.ts'
import {
  emptySealedRecord,
  fromSealedEntry,
  ownerName,
  type SealedEntry,
  type SealedKind,
  type SecretOwner,
  sealedRef,
  toSealedEntries,
} from '../records/sealed-entries.ts'
import { PlatformError } from './platform-error.ts'
import type { PlatformWorld } from './world.ts'

/** What one owner may have; a record of Kubernetes has room for more than both together. */
const MOST = 100
const BYTES = 256 * 1024
/** Writers of one record at the same time, of which each is served. */
const ATTEMPTS = 30

/** A value to set, with what is shown beside its name; undefined: it goes. */
export type SealedChange = { readonly value: string; readonly note?: string } | undefined

/** Secrets that owners give to the platform, by their names: variables, or credentials. */
export class SealedStore {
  readonly #world: PlatformWorld
  readonly #kind: SealedKind

  constructor(world: PlatformWorld, kind: SealedKind) {
    this.#world = world
    this.#kind = kind
  }

  /** What there is, without the values. */
  async entries(owner: SecretOwner): Promise<ReadonlyMap<string, SealedEntry>> {
    const live = await this.#world.cluster.get(sealedRef(this.#kind, owner))
    return live ? toSealedEntries(live) : new Map()
  }

  /** The value of an entry; undefined where no key opens it, or somebody else than the platform has written it. */
  open(owner: SecretOwner, name: string, { sealed, note }: SealedEntry): string | undefined {
    return this.#world.sealing.open(sealed, this.#place(owner, name, note))
  }

  /**
   * Sets and removes values, all or none of them. What others change at the same time is kept. Gives false when all
   * was as it is to be. Throws a PlatformError where it would be too much.
   */
  async change(owner: SecretOwner, by: string, changes: ReadonlyMap<string, SealedChange>): Promise<boolean> {
    const { cluster } = this.#world
    const ref = sealedRef(this.#kind, owner)
    for (let attempt = 1; ; attempt++) {
      const live = await cluster.get(ref)
      const isNothing = ([name, change]: readonly [string, SealedChange]) =>
        !change && !Object.hasOwn(dataOf(live), name)
      if ([...changes].every(isNothing)) return false
      const data = this.#data(owner, by, changes)
      this.#limit(owner, live, data)
      try {
        if (!live) await cluster.create(emptySealedRecord(this.#kind, owner))
        else {
          const metadata = { resourceVersion: live.metadata.resourceVersion }
          await cluster.patch(ref, { metadata, data }, { manager: MANAGER })
          return true
        }
      } catch (error) {
        if (!(error instanceof ClusterError) || !['conflict', 'exists', 'not-found'].includes(error.failure))
          throw error
        if (attempt >= ATTEMPTS)
          throw new PlatformError(503, 'busy', 'others change this all the time', { hint: 'try again in a moment' })
        await pause(backOff(attempt, 5, 200), undefined)
      }
    }
  }

  #data(owner: SecretOwner, by: string, changes: ReadonlyMap<string, SealedChange>): Record<string, string | null> {
    const set = rfc3339(this.#world.now())
    const toData = ([name, change]: readonly [string, SealedChange]) => {
      if (!change) return [name, null] as const
      const { value, note } = change
      const sealed = this.#world.sealing.seal(value, this.#place(owner, name, note))
      return [name, fromSealedEntry({ sealed, by, set, ...(note !== undefined && { note }) })] as const
    }
    return Object.fromEntries([...changes].map(toData))
  }

  #limit(owner: SecretOwner, live: KubeObject | undefined, data: Readonly<Record<string, string | null>>): void {
    // Removing helps, also where there are too many by a newer limit.
    if (Object.values(data).every(value => value === null)) return
    const all = Object.entries({ ...dataOf(live), ...data }).filter(([, value]) => value !== null)
    const bytes = all.reduce((sum, [name, value]) => sum + name.length + String(value).length, 0)
    if (all.length <= MOST && bytes <= BYTES) return
    const what = owner.kind === 'admin' ? 'all namespaces' : owner.kind === 'user' ? 'one person' : 'one namespace'
    throw new PlatformError(409, 'quota', `these are too many ${this.#kind} for ${what}`, {
      hint: `${MOST} of them are the most, and ${BYTES / 1024} KiB when they are sealed`,
    })
  }

  /** A value that is moved to another owner, name or note cannot be opened. */
  #place(owner: SecretOwner, name: string, note: string | undefined): string {
    return JSON.stringify([this.#kind, ownerName(owner), name, note ?? null])
  }
}

const dataOf = (live: KubeObject | undefined): Readonly<Record<string, string>> =>
  (live?.['data'] as Readonly<Record<string, string>> | undefined) ?? {} // a Secret's
