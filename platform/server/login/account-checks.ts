import { backOff, pause } from '../../../adapters/http/back-off.ts'
import { ClusterError } from '../../../adapters/kubernetes/cluster.ts'
import { MANAGER, rfc3339, USERS_NAMESPACE } from '../../records/names.ts'
import { type AccountStanding, fromStanding, sealedFor, standingName, toStanding } from '../../records/standing.ts'
import type { PlatformUser } from '../../records/user.ts'
import { userId } from '../../rules/names.ts'
import type { ServerContext } from '../context.ts'
import { isUnavailable } from '../http/authorized-stream.ts'
import type { Accounts } from '../http/caller.ts'
import type { LeaderTask } from '../leader/leader.ts'
import { type IdentityProvider, LoginError, type ProvenLogin } from './providers/provider.ts'

/** Interval between two checks of one account, and between two searches for accounts that are due, in milliseconds. */
const ASK = 3_600_000
const LOOK = 300_000
/** Maximum number of concurrent checks. */
const TOGETHER = 4
/** Time in milliseconds within which a replica stores the token of a grant, which takes up to 10 seconds. */
const SETTLING = 15_000
/** First and longest pause between two attempts to store a token, in milliseconds. */
const FIRST_PAUSE = 100
const LONGEST_PAUSE = 5000

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

/**
 * Stores the next refresh token, and returns the record; undefined if a login has replaced the record after `standing`
 * was read from it. Retries while the cluster is unavailable, even if this replica no longer leads, because without the
 * token the next check would log the user out. The record stays due until the provider has answered.
 */
async function renewStanding(
  world: ServerContext,
  standing: AccountStanding,
  refreshToken: string,
): Promise<AccountStanding | undefined> {
  const { sealed } = sealedStanding(world, standing, refreshToken)
  for (let failures = 1; ; failures++) {
    try {
      const written = await writeStanding(world, { ...standing, sealed })
      if (written) return written
      // An earlier attempt may have succeeded although its response was lost.
      const there = await readStanding(world, standing.user)
      return there?.sealed === sealed ? there : undefined
    } catch (error) {
      if (!isUnavailable(error)) throw error
      await pause(backOff(failures, FIRST_PAUSE, LONGEST_PAUSE), undefined)
    }
  }
}

/** Writes a record, and returns it; undefined if another record has replaced it after it was read. */
async function writeStanding(
  { cluster }: Pick<ServerContext, 'cluster'>,
  standing: AccountStanding,
): Promise<AccountStanding | undefined> {
  const { metadata, data } = fromStanding(standing)
  const live = await unlessReplaced(cluster.patch(refOf(standing.user), { metadata, data }, { manager: MANAGER }))
  return live && toStanding(live)
}

/** Deletes the record of a refresh token, unless a login has replaced the record after it was read. */
async function removeStanding(
  { cluster }: Pick<ServerContext, 'cluster'>,
  { user, version }: AccountStanding,
): Promise<void> {
  await unlessReplaced(cluster.delete(refOf(user), { resourceVersion: version }))
}

async function unlessReplaced<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch(error => {
    const isReplaced = error instanceof ClusterError && (error.failure === 'conflict' || error.failure === 'not-found')
    if (!isReplaced) throw error
    return undefined
  })
}

/**
 * Returns the task that asks the identity providers once an hour whether they still know the users who logged in with
 * them. If the provider refuses a user, the user is logged out everywhere, and the user's tokens are not accepted until
 * the next login. A provider that does not respond changes nothing, and neither does a response about a login that a
 * newer login has replaced.
 *
 * A provider also refuses a refresh token that another replica, which led until a moment ago, has used up. So a user is
 * refused only if the record is still the same after `settling` milliseconds, when that replica has stored the next
 * token.
 */
export const accountCheckTask = (world: ServerContext, parts: Parts, settling = SETTLING): LeaderTask => ({
  name: 'logins at providers',
  everyMs: LOOK,
  async run(signal) {
    const query = { apiVersion: 'v1', kind: 'Secret', namespace: USERS_NAMESPACE, labels: LABELS }
    const refusals: Promise<void>[] = []
    const check = (one: AccountStanding) =>
      logged(world, one, signal, async () => {
        const refusal = await ask(world, parts, one, signal)
        if (refusal) refusals.push(later(refusal))
      })
    const later = (refusal: Refusal) =>
      logged(world, refusal.standing, signal, async () => {
        await pause(settling, signal)
        await refuse(world, parts, refusal)
        // An aborted signal also ends the loop below.
      }).catch(() => {})
    try {
      for await (const page of world.cluster.pages(query, { signal })) {
        const due = page.flatMap(one => toStanding(one) ?? []).filter(one => Date.parse(one.asked) + ASK <= world.now())
        for (let at = 0; at < due.length; at += TOGETHER) await Promise.all(due.slice(at, at + TOGETHER).map(check))
      }
    } finally {
      await Promise.all(refusals)
    }
  },
})

const LABELS = 'dev.platform/record=standing'

/** Runs a step of a check. A failure is logged, does not affect other accounts, and is retried on the next pass. */
async function logged(
  world: ServerContext,
  { provider, user }: AccountStanding,
  signal: AbortSignal,
  step: () => Promise<void>,
): Promise<void> {
  try {
    await step()
  } catch (error) {
    signal.throwIfAborted()
    const message = error instanceof Error ? error.message : String(error)
    world.log({ time: rfc3339(world.now()), text: `asking ${provider} about ${user}: ${message}` })
  }
}

/** A user whom the provider has refused, and the record as it was then. */
interface Refusal {
  readonly user: PlatformUser
  readonly standing: AccountStanding
}

/** Asks the provider about one account, and records that it has confirmed the account. Returns a refusal otherwise. */
async function ask(
  world: ServerContext,
  { users, providers }: Parts,
  standing: AccountStanding,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  const user = await users.find(standing.user)
  if (!user) return void (await removeStanding(world, standing))
  const token = world.sealing.open(standing.sealed, sealedFor(standing))
  // If the provider is no longer configured or the key is missing, only a new login can confirm the account.
  const provider = providers.get(standing.provider)
  if (token === undefined || !provider?.ask) return { user, standing }
  const stored: { now: AccountStanding | undefined } = { now: standing }
  const renewed = async (next: string) => {
    stored.now = await renewStanding(world, standing, next)
  }
  const isKnown = await provider.ask(token, user.subject, { signal, renewed })
  // The answer is about an earlier login.
  if (!stored.now) return undefined
  if (!isKnown) return { user, standing: stored.now }
  const asked = rfc3339(world.now())
  await writeStanding(world, { ...stored.now, asked })
  await users.change(user.id, { asked })
  return undefined
}

/** Logs a user out everywhere, unless the user has logged in again after the provider was asked. */
async function refuse(world: ServerContext, { users, tokens }: Parts, { user, standing }: Refusal): Promise<void> {
  const { id } = user
  // A login replaces the standing before it changes the user, so one of these two checks notices a concurrent login.
  if ((await readStanding(world, id))?.version !== standing.version) return
  if (!(await users.refuse(user))) return
  // The user is refused before their tokens are listed, so a concurrent request is already refused.
  const before = await tokens.of(id)
  // If a login has ended the refusal in the meantime, its tokens are not in this list.
  if ((await users.find(id))?.isRefused) await tokens.suspend(before)
  await removeStanding(world, standing)
  world.audit({ time: rfc3339(world.now()), action: 'refused by provider', user: id, status: 403 })
}
