import { ClusterError } from '../adapters/kubernetes/cluster.ts'

/** The cluster's answer, or `otherwise` where the user may not know it. */
export async function unlessForbidden<T, U>(asked: Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ClusterError && error.failure === 'forbidden') return otherwise
    throw error
  }
}
