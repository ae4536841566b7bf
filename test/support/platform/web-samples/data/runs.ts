import type { Run } from '../../../../../platform/api/runs.ts'
import { makeUlid } from '../../../../../platform/rules/ulid.ts'
import { DAY, HOUR, type MinutesAgo } from '../times.ts'
import { BLOG_COMMIT, PULL_COMMIT, SHOP_COMMIT } from './environments.ts'
import { ANN, BOB } from './people.ts'

/** Returns the id of a run. It is the same at each start, so that the address of its page stays valid. */
const runId = (number: number): string => makeUlid(Date.UTC(2026, 0, number), new Uint8Array(10).fill(number))

/** Ids of the runs, by their results. */
export const RUN_IDS = { running: runId(5), failed: runId(4), succeeded: runId(3), cancelled: runId(2), old: runId(1) }

const SHOP = 'https://git.example.com/team/shop'

/** Runs, newest first. */
export const sampleRuns = (at: MinutesAgo): Run[] => [
  {
    id: RUN_IDS.running,
    namespace: 'shop-pr-7',
    environment: 'shop',
    action: 'deploy',
    state: 'running',
    user: BOB,
    repository: SHOP,
    branch: 'feature/checkout',
    commit: PULL_COMMIT,
    trust: 'repository',
    created: at(1),
    started: at(0.9),
  },
  {
    id: RUN_IDS.failed,
    namespace: 'ann',
    environment: 'blog',
    action: 'deploy',
    state: 'failed',
    user: ANN,
    repository: 'https://git.example.com/ann/blog',
    branch: 'main',
    commit: BLOG_COMMIT,
    variables: ['SITE_TITLE'],
    created: at(21),
    started: at(20.8),
    ended: at(20),
    reason: '`site` did not get ready: it exited 5 times with code 1',
  },
  {
    id: RUN_IDS.succeeded,
    namespace: 'shop',
    environment: 'shop',
    action: 'deploy',
    state: 'succeeded',
    user: ANN,
    repository: SHOP,
    commit: SHOP_COMMIT,
    file: 'compose.yaml',
    variables: ['GREETING', 'PAYMENT_URL', 'STRIPE_KEY'],
    created: at(2 * HOUR + 1.5),
    started: at(2 * HOUR + 1.4),
    ended: at(2 * HOUR),
  },
  {
    id: RUN_IDS.cancelled,
    namespace: 'shop',
    environment: 'shop',
    action: 'deploy',
    state: 'cancelled',
    user: BOB,
    repository: SHOP,
    branch: 'invoices',
    created: at(3 * DAY + 10),
    started: at(3 * DAY + 9),
    ended: at(3 * DAY + 8),
    reason: 'cancelled by `bob`',
  },
  {
    id: RUN_IDS.old,
    namespace: 'docs',
    environment: 'docs',
    action: 'deploy',
    state: 'succeeded',
    user: BOB,
    repository: 'https://git.example.com/team/docs',
    branch: 'main',
    created: at(5 * DAY + 1),
    started: at(5 * DAY + 1),
    ended: at(5 * DAY),
  },
]
