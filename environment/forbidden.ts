import { ClusterError } from '../adapters/kubernetes/cluster.ts'

/** Returns the response of the cluster, or `otherwise` if the user has no permission for the request. */
export async function unlessForbidden<T, U>(asked: Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ClusterError && error.failure === 'forbidden') return otherwise
    throw error
  }
}
