import { ClusterError } from '../../../adapters/kubernetes/cluster.ts'
import { MANAGER, rfc3339, USERS_NAMESPACE } from '../../records/names.ts'
import { type AccountStanding, fromStanding, sealedFor, standingName, toStanding } from '../../records/standing.ts'
import type { PlatformUser } from '../../records/user.ts'
import { userId } from '../../rules/names.ts'
import type { ServerContext } from '../context.ts'
import type { Accounts } from '../http/caller.ts'
import type { LeaderTask } from '../leader/leader.ts'
import { type IdentityProvider, LoginError, type ProvenLogin } from './providers/provider.ts'

/** Interval between two checks of one account, and between two searches for accounts that are due, in milliseconds. */
const ASK = 3_600_000
const LOOK = 300_000
/** Maximum number of concurrent checks. */
const TOGETHER = 4

/** The accounts, and the providers that confirm them, by id. */
interface Parts extends Accounts {
  readonly providers: ReadonlyMap<string, IdentityProvider>
}

/**
 * Stores the refresh token of a login, which is used to check the account later. Call this function before the login is
 * recorded, so that a running check of an earlier login notices the new login. Throws a LoginError if this login has no
 * refresh token although an earlier login had one. Otherwise, a login without a refresh token would end the checks.
 */
export async function saveRefreshToken(
  world: ServerContext,
  provider: string,
  { identity: { issuer, subject }, refreshToken }: ProvenLogin,
): Promise<void> {
  const user = userId(issuer, subject)
  if (refreshToken !== undefined) {
    const object = fromStanding(sealedStanding(world, { user, provider }, refreshToken))
    await world.cluster.apply(object, { manager: MANAGER, force: true })
  } else if (await readStanding(world, user))
    throw new LoginError('no-refresh', 'no refresh token, although an earlier login had one')
}

function sealedStanding(
  { sealing, now }: Pick<ServerContext, 'sealing' | 'now'>,
  { user, provider }: Pick<AccountStanding, 'user' | 'provider'>,
  refreshToken: string,
): AccountStanding {
  const sealed = sealing.seal(refreshToken, sealedFor({ user, provider }))
  return { user, provider, sealed, asked: rfc3339(now()) }
}

const refOf = (user: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  name: standingName(user),
  namespace: USERS_NAMESPACE,
})

async function readStanding(
  { cluster }: Pick<ServerContext, 'cluster'>,
  user: string,
): Promise<AccountStanding | undefined> {
  const live = await cluster.get(refOf(user))
  return live && toStanding(live)
}

/** Stores the next refresh token, unless a login has replaced the record after `standing` was read from it. */
async function renewStanding(world: ServerContext, standing: AccountStanding, refreshToken: string): Promise<void> {
  const { version } = standing
  const next = { ...sealedStanding(world, standing, refreshToken), ...(version !== undefined && { version }) }
  const { metadata, data } = fromStanding(next)
  await unlessReplaced(world.cluster.patch(refOf(standing.user), { metadata, data }, { manager: MANAGER }))
}

/** Deletes the record of a refresh token, unless a login has replaced the record after it was read. */
async function removeStanding(
  { cluster }: Pick<ServerContext, 'cluster'>,
  { user, version }: AccountStanding,
): Promise<void> {
  await unlessReplaced(cluster.delete(refOf(user), { resourceVersion: version }))
}

async function unlessReplaced(work: Promise<unknown>): Promise<void> {
  await work.catch(error => {
    const isReplaced = error instanceof ClusterError && (error.failure === 'conflict' || error.failure === 'not-found')
    if (!isReplaced) throw error
  })
}

/**
 * Returns the task that asks the identity providers once an hour whether they still know the users who logged in with
 * them. If the provider refuses a user, the user is logged out everywhere, and the user's tokens are not accepted until
 * the next login. A provider that does not respond changes nothing, and neither does a response about a login that a
 * newer login has replaced.
 */
export const accountCheckTask = (world: ServerContext, parts: Parts): LeaderTask => ({
  name: 'logins at providers',
  everyMs: LOOK,
  async run(signal) {
    const query = { apiVersion: 'v1', kind: 'Secret', namespace: USERS_NAMESPACE, labels: LABELS }
    for await (const page of world.cluster.pages(query, { signal })) {
      const due = page.flatMap(one => toStanding(one) ?? []).filter(one => Date.parse(one.asked) + ASK <= world.now())
      for (let at = 0; at < due.length; at += TOGETHER)
        await Promise.all(due.slice(at, at + TOGETHER).map(one => askAlone(world, parts, one, signal)))
    }
  },
})

const LABELS = 'dev.platform/record=standing'

/** Checks one account. A failure is logged, does not affect other accounts, and is retried on the next pass. */
async function askAlone(
  world: ServerContext,
  parts: Parts,
  standing: AccountStanding,
  signal: AbortSignal,
): Promise<void> {
  try {
    await ask(world, parts, standing, signal)
  } catch (error) {
    signal.throwIfAborted()
    const message = error instanceof Error ? error.message : String(error)
    world.log({
      time: rfc3339(world.now()),
      text: `asking ${standing.provider} about ${standing.user}: ${message}`,
    })
  }
}

async function ask(
  world: ServerContext,
  { users, tokens, providers }: Parts,
  standing: AccountStanding,
  signal: AbortSignal,
): Promise<void> {
  const { sealing, now } = world
  const user = await users.find(standing.user)
  if (!user) return removeStanding(world, standing)
  const token = sealing.open(standing.sealed, sealedFor(standing))
  // If the provider is no longer configured or the key is missing, only a new login can confirm the account.
  const provider = providers.get(standing.provider)
  if (token === undefined || !provider?.ask) return refuse(user)
  const next = await provider.ask(token, user.subject, signal)
  if (!next) return refuse(user)
  await renewStanding(world, standing, next.refreshToken)
  await users.change(user.id, { asked: rfc3339(now()) })

  async function refuse(read: PlatformUser): Promise<void> {
    const { id } = read
    // A login replaces the standing before it changes the user, so one of these two checks notices a concurrent login.
    if ((await readStanding(world, id))?.version !== standing.version) return
    if (!(await users.refuse(read))) return
    // The user is refused before their tokens are listed, so a concurrent request is already refused.
    const before = await tokens.of(id)
    // If a login has ended the refusal in the meantime, its tokens are not in this list.
    if ((await users.find(id))?.isRefused) await tokens.suspend(before)
    await removeStanding(world, standing)
    world.audit({ time: rfc3339(now()), action: 'refused by provider', user: id, status: 403 })
  }
}
