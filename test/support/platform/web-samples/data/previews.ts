import type { Webhook } from '../../../../../platform/api/hooks.ts'
import type { Preview } from '../../../../../platform/api/previews.ts'
import { sampleId } from '../ids.ts'
import { DAY, HOUR, type MinutesAgo } from '../times.ts'
import { PULL_COMMIT } from './environments.ts'
import { BOB } from './people.ts'

const HOOK = sampleId('hook', 1)

/** Returns the URL of a webhook for its forge. */
export const hookAddress = (id: string): string => `https://platform.dev.example.com/api/v1/hooks/gitea/${id}`

const REPOSITORY = 'https://git.example.com/team/shop'

export const samplePreviews = (at: MinutesAgo): Preview[] => [
  {
    name: 'shop-pr-7',
    status: 'Deploying',
    scope: 'personal',
    owner: BOB,
    role: 'developer',
    repository: REPOSITORY,
    branch: 'feature/checkout',
    sourceUrl: `${REPOSITORY}/pulls/7`,
    labels: ['checkout'],
    created: at(3 * HOUR),
    lastActive: at(1),
  },
]

/** A webhook with two requests: one that is deployed, and one of a fork that waits for an approval. */
export const sampleHooks = (at: MinutesAgo): Webhook[] => [
  {
    id: HOOK,
    forge: 'gitea',
    repository: REPOSITORY,
    owner: BOB,
    scope: 'personal',
    forks: 'approve',
    prefix: 'shop-',
    address: hookAddress(HOOK),
    events: 'Pull Request',
    created: at(20 * DAY),
    isCreated: true,
    pulls: [
      {
        number: 7,
        preview: 'shop-pr-7',
        page: `${REPOSITORY}/pulls/7`,
        title: 'A shorter checkout',
        author: 'bob',
        branch: 'feature/checkout',
        commit: PULL_COMMIT,
        trust: 'repository',
        deployed: PULL_COMMIT,
      },
      {
        number: 8,
        preview: 'shop-pr-8',
        page: `${REPOSITORY}/pulls/8`,
        title: 'Fix typos',
        author: 'eve',
        branch: 'typos',
        from: 'eve/shop',
        commit: '6dcb09b5b57875f334f61aebed695e2e4193db5e',
        trust: 'fork',
        isWaiting: true,
      },
    ],
    lastDelivery: { time: at(1), event: 'pull_request', result: 'accepted', number: 7 },
  },
]
