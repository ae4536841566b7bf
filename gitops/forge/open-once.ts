import type { ForgeApi } from './api-request.ts'
import { ForgeError } from './failures.ts'
import type { Opened, PullRequest } from './forge.ts'

interface Steps {
  /** Makes the request. */
  readonly create: () => Promise<Opened>
  /** Looks for one that is there. */
  readonly find: () => Promise<PullRequest | undefined>
  /** Gives one that is there the text. */
  readonly update: (found: PullRequest) => Promise<PullRequest>
  readonly signal: AbortSignal | undefined
}

/** What the forges say when there is a request between the two branches already. */
const EXISTS = /already exists/i
const ATTEMPTS = 4

/**
 * Makes a request that is not there yet. Where the answer got lost it is looked for before it is made again, so that there are never two; where
 * another run was quicker, its request gets the text.
 */
export async function openOnce(api: ForgeApi, { create, find, update, signal }: Steps): Promise<Opened> {
  for (let failures = 1; ; failures++) {
    try {
      return await create()
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error
      const isThere = EXISTS.test(error.said)
      if (!isThere && (!error.maybeDone || failures >= ATTEMPTS)) throw error
      if (!isThere) await api.pause(failures, signal)
      const found = await find()
      if (found) return { request: await update(found), isNew: !isThere, notes: [] }
      if (isThere) throw error
    }
  }
}

/** Does something that the publish does not depend on; what went wrong is told and no more. */
export async function attempt(what: string, action: () => Promise<unknown>): Promise<readonly string[]> {
  try {
    await action()
    return []
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    return [`${what}: ${error.said || error.message}`]
  }
}

/** Whether a request reads as it should. Forges change line ends, and drop blanks at the end. */
export function reads(
  { title, body }: PullRequest,
  wanted: { readonly title: string; readonly body: string },
): boolean {
  const plain = (text: string) => text.replaceAll('\r\n', '\n').trim()
  return plain(title) === plain(wanted.title) && plain(body) === plain(wanted.body)
}
