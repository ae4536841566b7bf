import { MANAGER, rfc3339, USERS_NAMESPACE } from '../records/names.ts'
import { type AccountStanding, fromStanding, sealedFor, standingName, toStanding } from '../records/standing.ts'
import type { PlatformUser } from '../records/user.ts'
import type { LeaderTask } from './leader.ts'
import type { PlatformParts } from './make-parts.ts'
import type { PlatformWorld } from './world.ts'

/** Milliseconds between two questions about one person, and between two searches for people who are due. */
const ASK = 3_600_000
const LOOK = 300_000
/** Concurrent questions. */
const TOGETHER = 4

/** Stores the token for later questions about a user; nothing if the login came without one. */
export async function keepStanding(
  { cluster, sealing, now }: PlatformWorld,
  user: string,
  provider: string,
  refreshToken: string | undefined,
): Promise<void> {
  if (refreshToken === undefined) {
    await cluster.delete({ apiVersion: 'v1', kind: 'Secret', name: standingName(user), namespace: USERS_NAMESPACE })
    return
  }
  const sealed = sealing.seal(refreshToken, sealedFor({ user, provider }))
  const object = fromStanding({ user, provider, sealed, asked: rfc3339(now()) })
  await cluster.apply(object, { manager: MANAGER, force: true })
}

/**
 * Asks the providers once an hour whether they still know the people who logged in with them. A person whom their
 * provider refuses is logged out everywhere, and their tokens are not accepted until they log in again. A provider that
 * does not respond decides nothing.
 */
export const standingTask = (
  world: PlatformWorld,
  parts: Pick<PlatformParts, 'users' | 'tokens' | 'providers'>,
): LeaderTask => ({
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

/** A failure for one person does not affect the others, and is retried on the next pass. */
async function askAlone(
  world: PlatformWorld,
  parts: Pick<PlatformParts, 'users' | 'tokens' | 'providers'>,
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
  world: PlatformWorld,
  { users, tokens, providers }: Pick<PlatformParts, 'users' | 'tokens' | 'providers'>,
  standing: AccountStanding,
  signal: AbortSignal,
): Promise<void> {
  const { sealing, now } = world
  const user = await users.find(standing.user)
  if (!user) return keepStanding(world, standing.user, standing.provider, undefined)
  const token = sealing.open(standing.sealed, sealedFor(standing))
  // The provider is no longer configured, or the key is gone: only a login can settle it.
  const provider = providers.get(standing.provider)
  if (token === undefined || !provider?.ask) return refuse(user)
  const next = await provider.ask(token, user.subject, signal)
  if (!next) return refuse(user)
  await keepStanding(world, user.id, standing.provider, next.refreshToken)
  await users.change(user.id, { asked: rfc3339(now()) })

  async function refuse({ id }: PlatformUser): Promise<void> {
    // In this order, a request in between is already refused.
    await users.change(id, { isRefused: true })
    await tokens.suspendAll(id)
    await keepStanding(world, id, standing.provider, undefined)
    world.audit({ time: rfc3339(now()), action: 'refused by provider', user: id, status: 403 })
  }
}
