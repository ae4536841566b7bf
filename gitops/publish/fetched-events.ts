import type { Address } from '../../adapters/git/address.ts'
import type { LocalContext } from '../../project/session.ts'
import type { PushEvent } from '../repository/push.ts'
import type { PublishEvent } from './events.ts'

/** Reports which commit of a repository is worked on, each time that one was fetched, and why a push is tried again. */
export const fetchedEvents =
  (on: LocalContext<PublishEvent>['on'], { shown: repository }: Address) =>
  (event: PushEvent): void => {
    if (event.type === 'again') on({ type: 'push-failed', because: event.because })
    else {
      const { branch, head } = event
      on({ type: 'fetched', repository, branch, ...(head !== undefined && { head }) })
    }
  }
