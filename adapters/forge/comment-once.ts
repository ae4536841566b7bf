import { requestComments } from './answers.validators.ts'
import type { MarkedComment } from './forge.ts'
import type { Calls, ForgeCall } from './forge-module.ts'

/** Pages of comments that are looked through. */
const PAGES = 50
const PAGE = 100

/** Where the comments of a request are listed and added, and where one of them is changed. */
export interface CommentPaths {
  readonly all: string
  readonly one: (id: number) => string
  readonly change: ForgeCall['method']
  /** Its term and number: `pull request 7`. */
  readonly request: string
}

/** Writes the comment that begins with the marker: the one that is there, else a new one. */
export async function commentOnce(
  api: Calls,
  { all, one, change, request }: CommentPaths,
  { marker, body }: MarkedComment,
  signal: AbortSignal | undefined,
): Promise<void> {
  const text = `${marker}\n${body}`
  const id = await findMarked()
  const purpose = `comment on ${request}`
  if (id === undefined)
    await api.send({ method: 'POST', path: all, body: { body: text }, purpose, mayRepeat: false, signal })
  else await api.send({ method: change, path: one(id), body: { body: text }, purpose, mayRepeat: true, signal })

  async function findMarked(): Promise<number | undefined> {
    for (let page = 1; page <= PAGES; page++) {
      const path = `${all}?page=${page}&per_page=${PAGE}&limit=${PAGE}`
      const call = { method: 'GET', path, purpose: `read the comments of ${request}`, mayRepeat: true, signal } as const
      const { items, hasMore } = await api.list(call, requestComments)
      const found = items.find(comment => comment.body?.startsWith(marker))
      if (found) return found.id
      if (!hasMore || items.length === 0) return undefined
    }
    return undefined
  }
}
