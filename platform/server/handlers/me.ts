import type { meRoutes } from '../../api/me.ts'
import type { ServerContext } from '../context.ts'
import type { Services } from '../create-services.ts'
import { toGranted, toMe, toTokenInfo } from '../http/answers.ts'
import { kubeToken, kubeTokenOfRun } from '../http/kube-token.ts'
import { notLoggedIn, PlatformError } from '../http/platform-error.ts'
import type { HandlersOf } from './handler.ts'

const DAY = 86_400_000

export const meHandlers = (
  world: Pick<ServerContext, 'cluster' | 'now'>,
  { users, tokens, runs, personal }: Pick<Services, 'users' | 'tokens' | 'runs' | 'personal'>,
): HandlersOf<typeof meRoutes> => ({
  'GET /me': async ({ by }) => toMe(await personal.withOwn(by.user)),
  'GET /me/tokens': async ({ by }) => ({
    items: (await tokens.of(by.user.id)).map(one => toTokenInfo(one, by.token.id)),
  }),
  'POST /me/tokens': async ({ body, by, note }) => {
    const { label, days = 90 } = body
    const issued = await tokens.issue({ kind: 'api', label, user: by.user.id, lifetime: days * DAY })
    note({ what: { id: issued.record.id, label } })
    return toGranted(issued, by.user)
  },
  'DELETE /me/tokens/:id': async ({ params, by }) => {
    const token = await tokens.find(params.id)
    if (token?.user !== by.user.id) throw new PlatformError(404, 'no-token', 'you have no such token')
    await tokens.revoke(params.id)
    return undefined
  },
  'POST /kube-token': async ({ by }) => {
    if (by.token.kind !== 'run') return kubeToken(world, { users, tokens }, by)
    const run = await runs.ofToken(by.token)
    if (run?.state !== 'running') throw notLoggedIn()
    return kubeTokenOfRun(world.cluster, run)
  },
})
