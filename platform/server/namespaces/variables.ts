import type { EffectiveVariables } from '../../api/variables.ts'
import { LONGEST_VALUE } from '../../api/variables.ts'
import type { SealedEntry, SecretOwner } from '../../records/sealed-entries.ts'
import type { CodeTrust } from '../../rules/previews/pull-trust.ts'
import { variableNameProblem } from '../../rules/variable-names.ts'
import type { ServerContext } from '../context.ts'
import { PlatformError } from '../http/platform-error.ts'
import { type SealedChange, SealedStore } from '../leader/sealed-store.ts'

/** The variables that the platform passes to deploys (design, section 8). */
export class PlatformVariables {
  readonly #store: SealedStore

  constructor(world: ServerContext) {
    this.#store = new SealedStore(world, 'variables')
  }

  /** Returns the variables, without their values. */
  list(owner: SecretOwner): Promise<ReadonlyMap<string, SealedEntry>> {
    return this.#store.entries(owner)
  }

  /** Sets variables, and removes those that are null. Throws a PlatformError for an invalid name or value. */
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
   * Returns all variables for a deploy in a namespace. Variables of the namespace have the highest precedence, followed
   * by the variables of the user, if there is one, and by platform-wide variables. Deploys that no user started
   * (`trust`) run code of other people, so they get no user's variables, and code of a fork gets no variables at all.
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
    // Names are validated again, because a stricter rule also applies to variables that were set earlier.
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

/**
 * Throws a PlatformError if a value is too long or contains a null byte, which would end the value of an environment
 * variable.
 */
function checkValue(name: string, value: string): void {
  const isLong = Buffer.byteLength(value) > LONGEST_VALUE
  if (!isLong && !value.includes('\0')) return
  const problem = isLong ? `has more than ${LONGEST_VALUE / 1024} KiB` : 'has a zero byte'
  throw new PlatformError(400, 'value', `the value of \`${name}\` ${problem}`)
}
