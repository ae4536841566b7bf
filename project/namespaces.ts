import type { Cluster } from '../adapters/kubernetes/cluster.ts'
import { didYouMean } from '../compiler/diagnostics/suggest.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { unlessForbidden } from '../environment/forbidden.ts'
import type { OperationContext, Session } from './session.ts'

/** Access to a namespace. */
export type NamespaceAccess = Pick<Session, 'cluster' | 'namespace' | 'signal'>

/** Returns true if the namespace exists; undefined if the user has no permission to read it. */
export async function hasNamespace(where: NamespaceAccess): Promise<boolean | undefined> {
  const found = await findNamespace(where)
  return found === 'unknown' ? undefined : found !== undefined
}

/** Reads the namespace; undefined if it does not exist, and `unknown` if the user has no permission to read it. */
export const findNamespace = ({ cluster, namespace, signal }: NamespaceAccess) =>
  unlessForbidden(cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace }, { signal }), 'unknown' as const)

/**
 * Throws a UserError if the namespace of a command does not exist. Without this check, the command would only report
 * that the requested object does not exist.
 */
export async function requireNamespace(where: NamespaceAccess): Promise<void> {
  if ((await hasNamespace(where)) === false)
    throw await noNamespace(
      where,
      'name another one with `--namespace`, or create it with `devctl deploy --create-namespace`',
    )
}

/**
 * Returns true if the namespace of a deploy does not exist and should be created, because `createNamespace` is set or
 * the user has agreed. Returns false if it exists. Throws a UserError if it does not exist and should not be created.
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

/** Returns a hint with a similarly named namespace, such as ``did you mean `shop`?``; undefined if none exists. */
export const similarNamespace = async ({ cluster, namespace, signal }: NamespaceAccess): Promise<string | undefined> =>
  didYouMean(namespace, await namesOf(cluster, signal))

/**
 * Returns the error for a namespace that does not exist. Suggests a similarly named namespace, otherwise shows `hint`.
 */
export async function noNamespace(where: NamespaceAccess, hint: string): Promise<UserError> {
  const { cluster, namespace } = where
  const near = await similarNamespace(where)
  return new UserError(`namespace \`${namespace}\` does not exist in ${cluster.name}`, {
    hint: near === undefined ? hint : `${near} Otherwise ${hint}`,
  })
}

/** Returns the names of all namespaces; an empty list if the user may not list them. */
async function namesOf(cluster: Cluster, signal: AbortSignal): Promise<readonly string[]> {
  const found = await unlessForbidden(cluster.list({ apiVersion: 'v1', kind: 'Namespace' }, { signal }), [])
  return found.map(({ metadata }) => metadata.name)
}
