import { expect } from 'vitest'
import { leaderLease } from '../../../platform/records/leader.ts'
import { makeUlid } from '../../../platform/rules/ulid.ts'
import { WebhookController } from '../../../platform/server/hooks/webhook-controller.ts'
import type { TestPlatform } from '../../support/platform/open-platform.ts'
import { COMMIT, makeEnvironment, setReady, startServer } from './make-environment.ts'
import { makeRuns, NASTY_BRANCH, NASTY_LINE, type TeamRuns } from './make-runs.ts'
import type { TestBrowser } from './open-browser.ts'
import { named, PICTURES, shown } from './shown.ts'

/** The value of all that is secret. */
export const CANARY = 'canary-c2VjcmV0'

/** A team, as the pages show it: names are those of a run, so that runs do not meet. */
export interface Team {
  /** An administrator. */
  readonly ann: string
  readonly bob: string
  readonly cem: string
  /** Namespace of ann, shared with the others. */
  readonly shop: string
  /** Namespace of ann, not shared. */
  readonly blog: string
  /** Previews: one of bob, and a global one. */
  readonly previews: readonly [own: string, shared: string]
  /** Namespace of bob that could not be deleted. */
  readonly stuck: string
  /** Runs of the namespace `shop`. */
  readonly runs: TeamRuns
  /** Preview of a pull request from a fork that waits for an approval; the webhook is bob's. */
  readonly waits: string
}

/** The commit of the request that waits. */
export const WAITING_COMMIT = '6dcb09b5b57875f334f61aebed695e2e4193db5e'
const FORGE_TOKEN = `${CANARY}-forge`

/** Reason why a namespace could not be deleted; it comes from a log, so it can contain anything. */
export const NASTY_PROBLEM = shown(
  'the destroy of shop failed: error: <img src=x onerror=alert(1)>\u202egnp.exe',
  'the destroy of newsletter failed: error: the command `remove-dns` failed with exit code 1',
)

const OUTCOMES = ['done', 'done', 'done', 'failed', 'interrupted'] as const

export async function makeTeam({ platform, logs, forge }: TestBrowser): Promise<Team> {
  const [ann, bob, cem] = [
    await platform.person('ann', 'admin'),
    await platform.person('bob'),
    await platform.person('cem'),
  ]
  const shop = named('shop')
  const blog = named('blog')
  for (const name of [shop, blog]) await platform.call('POST /namespaces', { token: ann.token, body: { name } })
  await makeEnvironment(platform, shop)
  for (const [user, role] of [
    [bob.id, 'developer'],
    [cem.id, 'viewer'],
  ] as const)
    await platform.call('PUT /namespaces/:ns/members/:user', {
      token: ann.token,
      params: { ns: shop, user },
      body: { role },
    })
  await platform.parts.tokens.issue({ kind: 'api', label: 'nightly tests', user: ann.id, lifetime: 30 * 86_400_000 })
  for (const line of [
    '\u001b[32mready\u001b[0m on http://0.0.0.0:80 in 213 ms',
    'GET / \u001b[32m200\u001b[0m 3 ms',
    'GET /cart \u001b[1;31m500\u001b[0m 12 ms',
    NASTY_LINE,
    'GET /health \u001b[32m200\u001b[0m 1 ms',
  ])
    logs.say('web', line)
  for (const name of ['GREETING', 'PAYMENT_URL'])
    await platform.call('PUT /variables/:scope/:name', {
      token: ann.token,
      params: { scope: `namespace:${shop}`, name },
      body: { value: CANARY },
    })
  await platform.call('PUT /credentials/:scope/:host', {
    token: ann.token,
    params: { scope: `namespace:${shop}`, host: 'git.example.com' },
    body: { user: 'devctl-reader', password: CANARY },
  })
  const previews = [named('shop-login'), named('shop-main')] as const
  const { status: created } = await platform.call('POST /previews', {
    token: bob.token,
    body: {
      name: previews[0],
      repository: 'https://git.example.com/team/shop',
      // The platform refuses branches with characters that change the direction of text.
      branch: shown('<img/src=x/onerror=alert(1)>', 'feature/checkout'),
      sourceUrl: 'https://git.example.com/team/shop/pulls/7',
      labels: ['checkout'],
    },
  })
  expect(created).toBe(200)
  await platform.call('POST /previews', {
    token: ann.token,
    body: { name: previews[1], repository: 'https://git.example.com/team/shop', scope: 'global' },
  })
  await platform.deployServer()
  if (PICTURES) {
    await makeEnvironment(platform, previews[1])
    await setReady(platform, previews[1], 'api', true)
    await startServer(platform)
    await lead(platform)
  }
  const stuck = named(shown('stuck', 'newsletter'))
  await platform.call('POST /namespaces', { token: bob.token, body: { name: stuck } })
  await platform.parts.namespaces.noteDeletion({ name: stuck }, 'DeleteFailed', {
    id: makeUlid(0, Buffer.alloc(10)),
    problem: NASTY_PROBLEM,
  })
  for (const [at, command] of ['deploy', 'up', 'deploy', 'build', 'logs', 'namespace list', 'deploy'].entries())
    platform.parts.usage.count(ann.id, [
      {
        command,
        version: '0.1.0',
        system: at % 3 === 0 ? 'darwin' : 'linux',
        duration: '10s',
        outcome: OUTCOMES[at % 5]!,
      },
    ])
  const runs = await makeRuns(platform, shop, ann.id)
  forge.tokens.set(FORGE_TOKEN, true)
  const fork = { id: 152, path: 'eve/shop', owner: 52 }
  const eve = { id: 51, login: shown('<img src=x onerror=alert(1)>\u202egnp.exe', 'eve') }
  forge.pulls.set(7, { state: 'open', sha: WAITING_COMMIT, branch: NASTY_BRANCH, author: eve, head: fork })
  forge.pulls.set(8, {
    ...{
      state: 'open',
      sha: COMMIT,
      branch: shown(`very-long${'-and-longer'.repeat(20)}`, 'fix-typos'),
      author: eve,
      head: fork,
    },
  })
  const pulls = named(shown('pulls', 'shop'))
  for (const [prefix, forks, number] of [
    [`${pulls}-`, 'approve', 7],
    [`${named(shown('closed', 'shop-docs'))}-`, 'never', 8],
  ] as const) {
    const body = { repository: 'https://git.example.com/team/shop', token: FORGE_TOKEN, prefix, forks }
    const { body: made } = await platform.call('POST /hooks', { token: bob.token, body })
    await lookAt(platform, made.hook.id, number)
    await platform.parts.hooks.noteDelivery(made.hook.id, {
      time: new Date().toISOString(),
      ...(forks === 'approve'
        ? { event: 'pull_request', result: 'accepted', number }
        : {
            event: shown('<img src=x onerror=alert(1)>\u202egnp.exe', 'push'),
            result: 'ignored',
            reason: shown('<img src=x onerror=alert(1)>\u202egnp.exe', 'it is not about a pull request'),
          }),
    })
  }
  const waits = `${pulls}-pr-7`
  return { ann: ann.id, bob: bob.id, cem: cem.id, shop, blog, previews, stuck, runs, waits }
}

/** Holds the Lease of the leader, as long as pictures are taken. */
async function lead({ cluster }: TestPlatform): Promise<void> {
  const { name, namespace } = leaderLease
  await cluster.apply(
    {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace },
      spec: { holderIdentity: 'platform-6d4f9c7b5-x2k4f', renewTime: microTime(Date.now() + 6 * 3_600_000) },
    },
    { manager: 'test', force: true },
  )
}
const microTime = (time: number): string => new Date(time).toISOString().replace('Z', '000Z')

/** Has the platform check a pull request, as it does after its forge has reported it. */
export async function lookAt({ parts, world }: TestPlatform, hook: string, number: number): Promise<void> {
  await parts.hooks.change(hook, ({ pulls, seen }) => ({ look: [number], pulls, seen }))
  const keeper = new WebhookController(world, parts)
  await keeper.run(AbortSignal.timeout(60_000))
  await keeper.settled()
}
