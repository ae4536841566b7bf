import { ClusterError } from '../adapters/kubernetes/cluster.ts'

/** Returns the cluster's response, or `otherwise` if the user has no permission to read it. */
export async function unlessForbidden<T, U>(asked: Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ClusterError && error.failure === 'forbidden') return otherwise
    throw error
  }
}
