import type { Surroundings } from '../../project/contexts/home.ts'
import { knownContexts } from '../../project/contexts/known-contexts.ts'
import type { Suggestion } from './completion.ts'

/** Returns the contexts of the kubeconfig and the platforms that devctl is logged in to. */
export async function contextCandidates(around: Surroundings): Promise<readonly Suggestion[]> {
  return (await knownContexts(around)).map(({ name, namespace, isCurrent, isGone }) => ({
    value: name,
    description: isGone ? 'not in the kubeconfig any more' : `namespace ${namespace}${isCurrent ? ', current' : ''}`,
  }))
}
