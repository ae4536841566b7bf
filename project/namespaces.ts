import type { Cluster } from '../adapters/kubernetes/cluster.ts'
import { didYouMean } from '../compiler/diagnostics/suggest.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { unlessForbidden } from '../environment/forbidden.ts'
import type { OperationContext, Session } from './session.ts'

/** The access to a namespace. */
export type NamespaceAccess = Pick<Session, 'cluster' | 'namespace' | 'signal'>

/** True if the namespace exists; undefined if the user may not know. */
export async function hasNamespace(where: NamespaceAccess): Promise<boolean | undefined> {
  const found = await findNamespace(where)
  return found === 'unknown' ? undefined : found !== undefined
}

/** Reads the namespace; undefined: it does not exist. Resolves to `unknown` for a user who may not read it. */
export const findNamespace = ({ cluster, namespace, signal }: NamespaceAccess) =>
  unlessForbidden(cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace }, { signal }), 'unknown' as const)

/**
 * Throws a UserError if the namespace of a command does not exist, because then more is missing than the object that
 * the command looks for.
 */
export async function requireNamespace(where: NamespaceAccess): Promise<void> {
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
  { session, ask }: Pick<OperationContext, 'session' | 'ask'>,
  { createNamespace = false }: CreatesNamespace,
): Promise<boolean> {
  const { cluster, namespace } = session
  if ((await hasNamespace(session)) !== false) return false
  if (createNamespace || (await ask?.mayCreateNamespace?.(namespace, cluster.name))) return true
  throw await noNamespace(session, 'create it with `--create-namespace`, or name another one with `--namespace`')
}

export interface CreatesNamespace {
  readonly createNamespace?: boolean | undefined
}

/** Asks for the namespace with a similar name, as ``did you mean `shop`?``; undefined if there is none. */
export const similarNamespace = async ({ cluster, namespace, signal }: NamespaceAccess): Promise<string | undefined> =>
  didYouMean(namespace, await namesOf(cluster, signal))

/**
 * Returns the error for a namespace that does not exist. It suggests a namespace with a similar name, else gives
 * `hint`.
 */
export async function noNamespace(where: NamespaceAccess, hint: string): Promise<UserError> {
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
