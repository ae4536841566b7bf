import { type Cluster, ClusterError } from '../adapters/kubernetes/cluster.ts'
import { didYouMean } from '../compiler/diagnostics/suggest.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { unlessForbidden } from './objects/forbidden.ts'
import type { Session, World } from './session.ts'

type Where = Pick<Session, 'cluster' | 'namespace' | 'signal'>

/** True if the namespace exists; undefined if the user may not know. */
export async function hasNamespace(where: Where): Promise<boolean | undefined> {
  const found = await findNamespace(where)
  return found === 'unknown' ? undefined : found !== undefined
}

const findNamespace = ({ cluster, namespace, signal }: Where) =>
  unlessForbidden(cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace }, { signal }), 'unknown' as const)

/** True if a platform has put the namespace to sleep; false also if the user may not know. */
export async function sleeps(where: Where): Promise<boolean> {
  const found = await findNamespace(where)
  if (found === undefined || found === 'unknown') return false
  const { isAsleep } = await import('./platform/wake.ts')
  return isAsleep(found)
}

/** Wakes the namespace, if a platform has put it to sleep. */
export async function wakeIfAsleep(world: World): Promise<void> {
  const found = await findNamespace(world.session)
  if (found === undefined || found === 'unknown') return
  const { wakeNamespace } = await import('./platform/wake.ts')
  await wakeNamespace(world, found)
}

/** Throws a UserError when the namespace of a command is not there: what it looks for is then not just missing. */
export async function requireNamespace(where: Where): Promise<void> {
  if ((await hasNamespace(where)) === false)
    throw await noNamespace(
      where,
      'name another one with `--namespace`, or create it with `devctl deploy --create-namespace`',
    )
}

/**
 * True if the namespace of a deploy does not exist and is to be created: `createNamespace` says so, or the
 * user, who is asked. Throws a UserError if it does not exist and is not to be created.
 */
export async function confirmNamespace(
  { session, ask }: Pick<World, 'session' | 'ask'>,
  { createNamespace = false }: CreatesNamespace,
): Promise<boolean> {
  const { cluster, namespace } = session
  if ((await hasNamespace(session)) !== false) return false
  if (createNamespace || (await ask?.mayCreateNamespace?.(namespace, cluster.name))) return true
  throw await noNamespace(session, 'create it with `--create-namespace`, or name another one with `--namespace`')
}

interface CreatesNamespace {
  readonly createNamespace?: boolean | undefined
}

/**
 * Creates the namespace of a deploy if it does not exist and `confirmNamespace` allows it. One that sleeps is
 * woken.
 */
export async function ensureNamespace(world: World, input: CreatesNamespace): Promise<void> {
  const { session, on } = world
  const { cluster, namespace, signal } = session
  const found = await findNamespace(session)
  if (found === 'unknown') return
  if (found) {
    const { wakeNamespace } = await import('./platform/wake.ts')
    return wakeNamespace(world, found)
  }
  if (!(await confirmNamespace(world, input))) return
  try {
    await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, { signal })
    on({ type: 'note', text: `created namespace ${namespace}` })
  } catch (error) {
    // Somebody else was faster.
    if (!(error instanceof ClusterError) || error.failure !== 'exists') throw error
  }
}

/** Asks for the namespace with a similar name, as ``did you mean `shop`?``; undefined if there is none. */
export const similarNamespace = async ({ cluster, namespace, signal }: Where): Promise<string | undefined> =>
  didYouMean(namespace, await namesOf(cluster, signal))

/** The error for a namespace that is not there: names one that is spelt nearly so, else says `hint`. */
export async function noNamespace(where: Where, hint: string): Promise<UserError> {
  const { cluster, namespace } = where
  const near = await similarNamespace(where)
  return new UserError(`namespace \`${namespace}\` does not exist in ${cluster.name}`, {
    hint: near === undefined ? hint : `${near} Otherwise ${hint}`,
  })
}

/** None where the user may not list them. */
async function namesOf(cluster: Cluster, signal: AbortSignal): Promise<readonly string[]> {
  const found = await unlessForbidden(cluster.list({ apiVersion: 'v1', kind: 'Namespace' }, { signal }), [])
  return found.map(({ metadata }) => metadata.name)
}
