import { type Cluster, ClusterError } from '../cluster/cluster.ts'
import { didYouMean } from '../compiler/diagnostics/suggest.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { Session } from './cluster-session.ts'

type Where = Pick<Session, 'cluster' | 'namespace' | 'signal'>

/** Whether there is a namespace; undefined where the user may not know. */
export async function hasNamespace({ cluster, namespace, signal }: Where): Promise<boolean | undefined> {
  try {
    return (await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace }, { signal })) !== undefined
  } catch (error) {
    if (error instanceof ClusterError && error.failure === 'forbidden') return undefined
    throw error
  }
}

/** Throws a UserError when the namespace of a command is not there: what it looks for is then not just missing. */
export async function requireNamespace(where: Where): Promise<void> {
  if ((await hasNamespace(where)) === false)
    throw await noNamespace(where, '`devctl deploy --create-namespace` makes it')
}

/** The error for a namespace that is not there: names one that is spelt nearly so, else says `hint`. */
export async function noNamespace({ cluster, namespace, signal }: Where, hint: string): Promise<UserError> {
  return new UserError(`there is no namespace \`${namespace}\` in ${cluster.name}`, {
    hint: didYouMean(namespace, await namesOf(cluster, signal)) ?? hint,
  })
}

/** None where the user may not list them. */
async function namesOf(cluster: Cluster, signal: AbortSignal): Promise<readonly string[]> {
  try {
    return (await cluster.list({ apiVersion: 'v1', kind: 'Namespace' }, { signal })).map(
      ({ metadata }) => metadata.name,
    )
  } catch (error) {
    if (error instanceof ClusterError && error.failure === 'forbidden') return []
    throw error
  }
}
