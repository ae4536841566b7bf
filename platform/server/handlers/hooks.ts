import { FORGES } from '../../../adapters/forge/forges.ts'
import type { hookRoutes, Webhook } from '../../api/hooks.ts'
import type { HookRecord, PullRecord } from '../../records/hook.ts'
import { rfc3339 } from '../../records/names.ts'
import type { PlatformUser } from '../../records/user.ts'
import { approvalProblem, prefixOfPull, pullPreviewName } from '../../rules/previews/pull-trust.ts'
import { hasEnded } from '../../rules/runs/run-states.ts'
import type { ServerContext } from '../context.ts'
import type { Services } from '../create-services.ts'
import { HookDeliveries } from '../hooks/hook-deliveries.ts'
import { hostOfHook, toPlatformError, within } from '../hooks/hooks.ts'
import { personOf } from '../http/answers.ts'
import { notAllowed, PlatformError } from '../http/platform-error.ts'
import { checkSource } from '../runs/runs.ts'
import type { HandlersOf } from './handler.ts'

export function hookHandlers(
  world: Pick<ServerContext, 'now' | 'log'>,
  { users, hooks, credentials, runs }: Pick<Services, 'users' | 'hooks' | 'credentials' | 'runs'>,
): HandlersOf<typeof hookRoutes> {
  const { now } = world
  const deliveries = new HookDeliveries(world, hooks)
  const toAnswer = (hook: HookRecord, people: ReadonlyMap<string, PlatformUser>): Webhook => {
    const { id, forge, repository, owner, scope, forks, prefix, file, created, remote, pulls } = hook
    const { lastDelivery, lastUnsigned } = hook
    return {
      id,
      forge,
      repository,
      owner: personOf(owner, people),
      scope,
      forks,
      prefix,
      ...(file !== undefined && { file }),
      address: hooks.addressOf(hook),
      events: FORGES[forge].webhookEvents,
      created,
      ...(remote !== undefined && { isCreated: true }),
      pulls: pulls.map(one => toPullAnswer(hook, one)),
      ...(lastDelivery && { lastDelivery }),
      ...(lastUnsigned !== undefined && { lastUnsigned }),
    }
  }

  /**
   * Returns true if a user may write to the repository, according to the forge. The request uses the webhook's token if
   * the user owns the webhook, otherwise the user's own credential. Returns false if another user has no credential for
   * the forge.
   */
  const mayWrite = async (hook: HookRecord, user: PlatformUser): Promise<boolean> => {
    const own = hook.owner === user.id ? undefined : await credentials.ownLogin(user.id, hostOfHook(hook))
    if (hook.owner !== user.id && !own) return false
    const found = await hooks
      .factsOf(hook, own)
      .repository(within())
      .catch(error => {
        throw toPlatformError(error)
      })
    return found.mayWrite && found.id === hook.repositoryId
  }

  /**
   * Returns the last deployed commit of a pull request if the deploy of this commit has failed; undefined otherwise. A
   * commit can be deployed again only if this function returns it.
   */
  const failedCommit = async (hook: HookRecord, { number, deployed }: PullRecord): Promise<string | undefined> => {
    if (!deployed) return undefined
    const all = await runs.list({ namespace: pullPreviewName(hook.prefix, number) })
    const last = all.find(({ action, state }) => action === 'deploy' && state !== 'replaced')
    const isFailed = last?.hook === hook.id && hasEnded(last.state) && last.state !== 'succeeded'
    return isFailed && last.commit === deployed.commit ? deployed.commit : undefined
  }

  return {
    'GET /hooks': async ({ by }) => {
      const [found, people] = await Promise.all([hooks.list(), users.byId()])
      const own = found.filter(({ owner }) => owner === by.user.id || by.user.role === 'admin')
      return { items: own.map(one => toAnswer(one, people)) }
    },
    'POST /hooks': async ({ body, by, note }) => {
      // The URL is audited after parsing, because an address that contains a password is refused.
      note({ what: { repository: checkSource(body).url } })
      const { hook, secret } = await hooks.create(by.user, body)
      note({ what: { repository: hook.repository, id: hook.id, forks: hook.forks } })
      return { hook: toAnswer(hook, new Map([[by.user.id, by.user]])), ...(hook.remote === undefined && { secret }) }
    },
    'DELETE /hooks/:id': async ({ params, by }) => {
      const hook = await hooks.find(params.id)
      if (!hook || (hook.owner !== by.user.id && by.user.role !== 'admin')) throw noHook()
      return hooks.remove(hook)
    },
    'POST /hooks/:forge/:id': async ({ params, raw, note }) => {
      // A delivery without a valid signature changes nothing, and auditing it would fill the log.
      note({ isNothing: true })
      const hook = await hooks.find(params.id)
      if (!hook || hook.forge !== params.forge) throw noHook()
      await deliveries.take(hook, raw, what => note({ what }))
      return undefined
    },
    'POST /previews/:name/approve': async ({ params, body, by, note }) => {
      note({ what: { name: params.name, commit: body.commit } })
      const prefix = prefixOfPull(params.name)
      const hook = (await hooks.list()).find(one => one.prefix === prefix)
      if (!hook) throw noApproval(params.name)
      const isSeen = hook.owner === by.user.id || by.user.role === 'admin'
      const waiting = hook.pulls.find(({ number }) => pullPreviewName(hook.prefix, number) === params.name)
      if (!waiting && isSeen) throw noApproval(params.name)
      // Prefixes are not secret, but the pull requests of a webhook are. The forge is always asked for other users, so
      // the response does not reveal whether the pull request exists.
      const isAllowed = await mayWrite(hook, by.user).catch(error => {
        if (!isSeen && error instanceof PlatformError && error.status < 500) return false
        throw error
      })
      if (!isAllowed && isSeen)
        throw notAllowed('approving it', 'write access to its repository, by your own credential for its host')
      if (!isAllowed || !waiting) throw noApproval(params.name)
      const failed = await failedCommit(hook, waiting)
      let problem: string | undefined
      let approved: PullRecord | undefined
      await hooks.change(hook.id, ({ look, pulls, seen }) => {
        const pull = pulls.find(({ number }) => number === waiting.number)
        const hasFailed = failed !== undefined && pull?.commit === failed && pull.deployed?.commit === failed
        const isAgain = hasFailed || (pull !== undefined && wasRefused(hook, pull))
        problem = approvalProblem(body.commit, pull?.isWaiting || isAgain ? pull : undefined)
        if (!pull || problem !== undefined) return undefined
        const { isWaiting: _, problem: _refusal, deployed, comment, ...rest } = pull
        approved = {
          ...rest,
          // A failed deploy counts as not deployed, and its comment is written again.
          ...(deployed && !isAgain && { deployed }),
          ...(comment && { comment: isAgain ? { ...comment, told: '' } : comment }),
          approved: { commit: body.commit, by: by.user.id, time: rfc3339(now()) },
        }
        return {
          look: [...look.filter(one => one !== pull.number), pull.number],
          pulls: pulls.map(one => (one === pull ? approved! : one)),
          seen,
        }
      })
      if (approved) return toPullAnswer(hook, approved)
      throw new PlatformError(409, 'approval', `\`${params.name}\` is not approved: ${problem ?? 'it is closed'}`, {
        hint: '`devctl preview hook list` shows which commit is waiting; review all of its changes first',
      })
    },
  }
}

/**
 * True if the platform could not start the deploy of the newest commit, such as at the limit of previews. A fork that
 * the webhook does not deploy stays refused.
 */
const wasRefused = ({ forks }: HookRecord, { problem, trust }: PullRecord): boolean =>
  problem !== undefined && (trust !== 'fork' || forks !== 'never')

const toPullAnswer = (
  { prefix }: HookRecord,
  { number, page, title, author, branch, from, commit, trust, isWaiting, deployed, problem }: PullRecord,
): Webhook['pulls'][number] => ({
  number,
  preview: pullPreviewName(prefix, number),
  page,
  ...(title !== undefined && { title }),
  author,
  ...(branch !== undefined && { branch }),
  ...(from !== undefined && { from }),
  commit,
  trust,
  ...(isWaiting && { isWaiting }),
  ...(deployed && { deployed: deployed.commit }),
  ...(problem !== undefined && { problem }),
})

/**
 * Returns the error for a preview that does not exist, and for a preview that the caller may neither see nor approve.
 * The response is the same in both cases.
 */
const noApproval = (name: string): PlatformError =>
  new PlatformError(404, 'no-preview', `preview \`${name}\` does not exist, or you may not approve it`, {
    hint: 'approving needs write access to its repository, by your own credential for its host: `devctl credentials set HOST --user`',
  })

const noHook = (): PlatformError =>
  new PlatformError(404, 'no-hook', 'this webhook does not exist', { hint: '`devctl preview hook list` lists yours' })
