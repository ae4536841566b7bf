import { addSecretKeys, missingKeys } from '../../environment/apply/secret-keys.ts'
import { hasNamespace, noNamespace } from '../../project/namespaces.ts'
import type { OperationContext } from '../../project/session.ts'
import type { NeededKey } from './needed-secrets.ts'

/**
 * Event about a Secret that devctl does not publish: the Secret was created in the cluster, got its missing keys, or
 * was complete already.
 */
export interface SecretEvent {
  readonly type: 'secret'
  readonly name: string
  readonly namespace: string
  readonly action: 'created' | 'extended' | 'unchanged'
  /** Keys that were added. */
  readonly keys: readonly string[]
}

export interface CreateContext extends Pick<OperationContext<SecretEvent>, 'workspace' | 'session' | 'on'> {
  /**
   * Returns the value of a key that has no other source; undefined if the user cancels, empty for no value. If absent,
   * the command is not interactive.
   */
  readonly valueFor?: (key: NeededKey) => Promise<string | undefined>
}

export type CreateOutcome =
  /** The user canceled. Secrets that were already created remain. */
  | { readonly kind: 'cancelled' }
  /** `left` contains the keys without a value. */
  | { readonly kind: 'created'; readonly left: readonly NeededKey[] }

/**
 * Creates Secrets in the cluster, or adds the keys that they lack; an existing key keeps its value. Reports each
 * Secret. Throws a UserError if the namespace does not exist.
 */
export async function createSecrets(world: CreateContext, needed: readonly NeededKey[]): Promise<CreateOutcome> {
  const { session } = world
  const { namespace } = session
  if ((await hasNamespace(session)) === false)
    throw await noNamespace(session, `\`kubectl create namespace ${namespace}\` creates it`)
  const left: NeededKey[] = []
  for (const [name, keys] of bySecret(needed)) {
    const rest = await addTo(world, name, keys)
    if (!rest) return { kind: 'cancelled' }
    left.push(...rest)
  }
  return { kind: 'created', left }
}

/** Adds missing keys to a Secret, and returns the keys that are still missing; undefined if the user cancels. */
async function addTo(
  world: CreateContext,
  name: string,
  keys: readonly NeededKey[],
): Promise<readonly NeededKey[] | undefined> {
  const { session, on } = world
  const { cluster, namespace, signal } = session
  const secret = { namespace, name }
  const names = keys.map(({ key }) => key)
  const missing = new Set(await missingKeys(cluster, secret, names, { signal }))
  if (missing.size === 0) on({ type: 'secret', ...secret, action: 'unchanged', keys: [] })
  const values = new Map<string, Uint8Array>()
  for (const one of keys.filter(({ key }) => missing.has(key))) {
    const value = one.value ?? (await asked(world, one))
    if (!value) return undefined
    if (value.length > 0) values.set(one.key, value)
  }
  if (values.size > 0) {
    const action = await addSecretKeys(cluster, secret, values, { signal })
    on({ type: 'secret', ...secret, action, keys: [...values.keys()] })
  }
  return keys.filter(({ key }) => missing.has(key) && !values.has(key))
}

/** Returns the user's answer for a key. Empty if the command is not interactive; undefined if the user cancels. */
async function asked({ workspace, valueFor }: CreateContext, key: NeededKey): Promise<Uint8Array | undefined> {
  if (!valueFor) return new Uint8Array()
  const text = await valueFor(key)
  if (text === undefined) return undefined
  workspace.secrets?.add([text])
  return new TextEncoder().encode(text)
}

/** Groups the keys by the names of their Secrets. */
export function bySecret(needed: readonly NeededKey[]): ReadonlyMap<string, readonly NeededKey[]> {
  const found = new Map<string, NeededKey[]>()
  for (const one of needed) found.set(one.secret, [...(found.get(one.secret) ?? []), one])
  return found
}
