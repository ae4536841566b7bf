import type { Address } from '../../adapters/git/address.ts'
import type { LocalContext } from '../../project/session.ts'
import type { PushEvent } from '../repository/push.ts'
import type { PublishEvent } from './events.ts'

/** Returns a callback that reports each fetched commit of a repository, and the reason for each repeated push. */
export const fetchedEvents =
  (on: LocalContext<PublishEvent>['on'], { shown: repository }: Address) =>
  (event: PushEvent): void => {
    if (event.type === 'again') on({ type: 'push-failed', because: event.because })
    else {
      const { branch, head } = event
      on({ type: 'fetched', repository, branch, ...(head !== undefined && { head }) })
    }
  }
