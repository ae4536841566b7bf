import { RUN } from '../platform-server/open-platform.ts'
import { makeEnvironment } from './make-environment.ts'
import { makeRuns, type TeamRuns } from './make-runs.ts'
import type { TestBrowser } from './open-browser.ts'

/** A team, as the pages show it: names are those of a run, so that runs do not meet. */
export interface Team {
  /** An administrator. */
  readonly ann: string
  readonly bob: string
  readonly cem: string
  /** Of ann, shared with the others. */
  readonly shop: string
  /** Of ann, shared with nobody. */
  readonly blog: string
  /** Of shop. */
  readonly runs: TeamRuns
}

export async function makeTeam({ platform }: TestBrowser): Promise<Team> {
  const [ann, bob, cem] = [
    await platform.person('ann', 'admin'),
    await platform.person('bob'),
    await platform.person('cem'),
  ]
  const shop = `shop-${RUN}`
  const blog = `blog-${RUN}`
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
  const runs = await makeRuns(platform, shop, ann.id)
  return { ann: ann.id, bob: bob.id, cem: cem.id, shop, blog, runs }
}
