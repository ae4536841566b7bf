import type { EffectiveVariables } from '../api/variables.ts'
import { LONGEST_VALUE } from '../api/variables.ts'
import type { SealedEntry, SecretOwner } from '../records/sealed-entries.ts'
import type { CodeTrust } from '../rules/pull-trust.ts'
import { variableNameProblem } from '../rules/variable-names.ts'
import { PlatformError } from './platform-error.ts'
import { type SealedChange, SealedStore } from './sealed-store.ts'
import type { PlatformWorld } from './world.ts'

/** The variables that the platform gives to what is deployed (design, section 8). */
export class PlatformVariables {
  readonly #store: SealedStore

  constructor(world: PlatformWorld) {
    this.#store = new SealedStore(world, 'variables')
  }

  /** What there is, without the values. */
  list(owner: SecretOwner): Promise<ReadonlyMap<string, SealedEntry>> {
    return this.#store.entries(owner)
  }

  /** Sets variables, and removes those that are null. Throws a PlatformError for a name or a value that cannot be one. */
  async change(owner: SecretOwner, by: string, values: Readonly<Record<string, string | null>>): Promise<boolean> {
    const changes = Object.entries(values).map(([name, value]): readonly [string, SealedChange] => {
      if (value === null) return [name, undefined]
      checkName(name)
      checkValue(name, value)
      return [name, { value }]
    })
    return this.#store.change(owner, by, new Map(changes))
  }

  /**
   * All that a deploy in a namespace gets: what is of everybody counts least, then what is of a person, if it
   * is for one, and what is of the namespace most. Where no person has started it (`trust`), others have written
   * the code: it gets nothing of a person, and that of a fork nothing at all.
   */
  async effective(
    user: string | undefined,
    namespace: { readonly name: string; readonly uid: string },
    trust?: CodeTrust,
  ): Promise<EffectiveVariables> {
    if (trust === 'fork') return { variables: [], unreadable: [] }
    const owners: readonly SecretOwner[] = [
      { kind: 'admin' },
      ...(user === undefined || trust !== undefined ? [] : [{ kind: 'user', id: user } as const]),
      { kind: 'namespace', ...namespace },
    ]
    const all = await Promise.all(owners.map(owner => this.#store.entries(owner)))
    const found = new Map<string, { readonly owner: SecretOwner; readonly value: string | undefined }>()
    // A rule that was made stricter holds for what was set before, too.
    for (const [index, owner] of owners.entries())
      for (const [name, entry] of all[index]!)
        if (!variableNameProblem(name)) found.set(name, { owner, value: this.#store.open(owner, name, entry) })
    const variables: EffectiveVariables['variables'] = []
    const unreadable: EffectiveVariables['unreadable'] = []
    for (const [name, { owner, value }] of found) {
      const scope = owner.kind === 'namespace' ? `namespace:${owner.name}` : owner.kind
      if (value === undefined) unreadable.push({ name, scope })
      else variables.push({ name, value, scope })
    }
    return { variables, unreadable }
  }
}

function checkName(name: string): void {
  const problem = variableNameProblem(name)
  if (problem) throw new PlatformError(400, 'name', `a variable cannot be called \`${name.slice(0, 100)}\`: ${problem}`)
}

/** The variables of a program end at a zero byte. */
function checkValue(name: string, value: string): void {
  const isLong = Buffer.byteLength(value) > LONGEST_VALUE
  if (!isLong && !value.includes('\0')) return
  const problem = isLong ? `has more than ${LONGEST_VALUE / 1024} KiB` : 'has a zero byte'
  throw new PlatformError(400, 'value', `the value of \`${name}\` ${problem}`)
}
