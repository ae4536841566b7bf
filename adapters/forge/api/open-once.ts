import type { Abortable, NewRequest, OpenResult, PullRequest, PullRequests } from '../forge.ts'
import type { Calls } from '../forge-module.ts'
import { ForgeError } from './failures.ts'

const ATTEMPTS = 4

interface Steps {
  /** Creates the request. Adds a note to `notes` for each optional part that could not be set. */
  readonly create: (notes: string[]) => Promise<PullRequest>
  /** Matches the error message of the forge if a request between the two branches already exists. */
  readonly exists: RegExp
  /** Sets fields that the forge accepts only after the creation: labels, reviewers. */
  readonly complete?: (made: PullRequest, notes: string[]) => Promise<void>
}

/**
 * Opens a request that does not exist yet. If the response was lost, searches for the request before trying again,
 * because there must never be two. If another run has opened the request in the meantime, updates the text of that
 * request.
 */
export async function openOnce(
  api: Pick<Calls, 'pause'>,
  requests: Pick<PullRequests, 'find' | 'update'>,
  request: NewRequest,
  waiting: Abortable,
  { create, exists, complete }: Steps,
): Promise<OpenResult> {
  const notes: string[] = []
  let made: PullRequest | undefined
  for (let failures = 1; made === undefined; failures++) {
    try {
      // Each attempt looks everything up again.
      notes.length = 0
      made = await create(notes)
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error
      const isThere = exists.test(error.said)
      if (!isThere && (!error.maybeDone || failures >= ATTEMPTS)) throw error
      if (!isThere) await api.pause(failures, waiting.signal)
      const found = await requests.find(request, waiting)
      if (isThere && !found) throw error
      // If the response was lost, the request found may also be another run's.
      if (found) made = await requests.update(found, request, waiting)
      if (made && isThere) return { request: made, isNew: false, notes }
    }
  }
  await complete?.(made, notes)
  return { request: made, isNew: true, notes }
}

/**
 * Performs an optional part of a publish. If the forge refuses this part or does not respond, returns a note with the
 * failure, which `what` describes. Otherwise returns an empty list.
 */
export async function attempt(what: string, action: () => Promise<unknown>): Promise<readonly string[]> {
  try {
    await action()
    return []
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    return [`${what}: ${error.said || error.message}`]
  }
}

/**
 * Returns true if a request has the wanted text. Ignores line endings, and spaces at the ends of the texts, because
 * forges change them.
 */
export function hasText(
  { title, body }: PullRequest,
  wanted: { readonly title: string; readonly body: string },
): boolean {
  const plain = (text: string) => text.replaceAll('\r\n', '\n').trim()
  return plain(title) === plain(wanted.title) && plain(body) === plain(wanted.body)
}
