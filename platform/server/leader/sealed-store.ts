import { backOff, pause } from '../../../adapters/http/back-off.ts'
import { ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { MANAGER, rfc3339 } from '../../records/names.ts'
import {
  emptySealedRecord,
  fromSealedEntry,
  ownerName,
  type SealedEntry,
  type SealedKind,
  type SecretOwner,
  sealedRef,
  toSealedEntries,
} from '../../records/sealed-entries.ts'
import type { ServerContext } from '../context.ts'
import { PlatformError } from '../http/platform-error.ts'

/**
 * Maximum number of one owner's entries, and their maximum total size in bytes. A Kubernetes object has room for more.
 */
const MOST = 100
const BYTES = 256 * 1024
/** Maximum number of attempts to update a record. Up to this number of concurrent writers, all of them succeed. */
const ATTEMPTS = 30

/** A value to set, with the note that is shown next to its name; undefined removes the entry. */
export type SealedChange = { readonly value: string; readonly note?: string } | undefined

/** Secrets that owners store on the platform, by name: variables, or credentials. */
export class SealedStore {
  readonly #world: ServerContext
  readonly #kind: SealedKind

  constructor(world: ServerContext, kind: SealedKind) {
    this.#world = world
    this.#kind = kind
  }

  /** Returns the entries, without their values. */
  async entries(owner: SecretOwner): Promise<ReadonlyMap<string, SealedEntry>> {
    const live = await this.#world.cluster.get(sealedRef(this.#kind, owner))
    return live ? toSealedEntries(live) : new Map()
  }

  /** Returns the value of an entry; undefined if no key can open it, or if the platform did not write it. */
  open(owner: SecretOwner, name: string, { sealed, note }: SealedEntry): string | undefined {
    return this.#world.sealing.open(sealed, this.#place(owner, name, note))
  }

  /**
   * Sets and removes values, either all of them or none, and preserves concurrent changes of other users. Returns false
   * if nothing had to change. Throws a PlatformError if the entries would exceed the limits.
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
          throw new PlatformError(503, 'busy', 'others are changing this at the same time', {
            hint: 'try again in a moment',
          })
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
    // Removing values is always allowed, even if the entries already exceed a limit that was lowered.
    if (Object.values(data).every(value => value === null)) return
    const all = Object.entries({ ...dataOf(live), ...data }).filter(([, value]) => value !== null)
    const bytes = all.reduce((sum, [name, value]) => sum + name.length + String(value).length, 0)
    if (all.length <= MOST && bytes <= BYTES) return
    const what = owner.kind === 'admin' ? 'all namespaces' : owner.kind === 'user' ? 'one person' : 'one namespace'
    throw new PlatformError(409, 'quota', `these are too many ${this.#kind} for ${what}`, {
      hint: `at most ${MOST} are allowed, and ${BYTES / 1024} KiB when they are sealed`,
    })
  }

  /**
   * Returns the context that a value is bound to: a value that is copied to another owner, name or note cannot be
   * opened.
   */
  #place(owner: SecretOwner, name: string, note: string | undefined): string {
    return JSON.stringify([this.#kind, ownerName(owner), name, note ?? null])
  }
}

const dataOf = (live: KubeObject | undefined): Readonly<Record<string, string>> =>
  (live?.['data'] as Readonly<Record<string, string>> | undefined) ?? {} // a Secret's
