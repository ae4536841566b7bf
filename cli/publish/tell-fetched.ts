import type { Address } from '../../adapters/git/address.ts'
import type { PushEvent } from '../../operations/gitops/push.ts'
import type { Progress } from '../progress/events.ts'

/** Tells which commit of a repository is worked on, each time that one has come. */
export const tellFetched =
  (progress: Progress, { shown }: Address) =>
  (event: PushEvent): void => {
    if (event.type === 'again') return
    const head = event.head === undefined ? ', which has no commit yet' : ` ${event.head.slice(0, 7)}`
    progress.tell({ type: 'step', step: 'Fetched', text: `${shown} ${event.branch}${head}` })
  }
