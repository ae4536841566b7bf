import type { MarkedComment } from '../forge.ts'
import type { Calls, ForgeCall } from '../forge-module.ts'
import { forgeUser, requestComments, writtenComment } from './answers.validators.ts'
import { isRefused } from './failures.ts'

/** Maximum number of pages of comments that are searched. */
const PAGES = 50
const PAGE = 100

/** Paths at which the comments of a request are listed and added, and at which a single comment is changed. */
export interface CommentPaths {
  readonly all: string
  readonly one: (id: number) => string
  readonly change: ForgeCall['method']
  /** The request's term and number: `pull request 7`. */
  readonly request: string
}

/**
 * Writes the comment that begins with the marker, and returns its number. Updates the existing comment if the token's
 * user wrote it, otherwise adds a new one. Never updates the comment of another user: any user can write a comment with
 * the marker, and could later change what devctl wrote into it.
 */
export async function commentOnce(
  api: Calls,
  { all, one, change, request }: CommentPaths,
  { marker, body, id: known }: MarkedComment,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const sent = { body: { body: `${marker}\n${body}` }, purpose: `comment on ${request}`, signal }
  if (known !== undefined && (await changed(known))) return known
  const id = await findOwn()
  if (id !== undefined && (await changed(id))) return id
  return (await api.object({ ...sent, method: 'POST', path: all, mayRepeat: false }, writtenComment)).id

  /** Updates a comment; returns false if the comment was deleted, or if the token has no permission to change it. */
  async function changed(id: number): Promise<boolean> {
    try {
      await api.send({ ...sent, method: change, path: one(id), mayRepeat: true })
      return true
    } catch (error) {
      if (isRefused(error, 403, 404)) return false
      throw error
    }
  }

  async function findOwn(): Promise<number | undefined> {
    let self: { readonly id: number | undefined } | undefined
    for (let page = 1; page <= PAGES; page++) {
      const path = `${all}?page=${page}&per_page=${PAGE}&limit=${PAGE}`
      const call = { method: 'GET', path, purpose: `read the comments of ${request}`, mayRepeat: true, signal } as const
      const { items, hasMore } = await api.list(call, requestComments)
      for (const { id, body, user, author } of items) {
        if (!body?.startsWith(marker)) continue
        self ??= { id: await whoWeAre() }
        // The token of a GitHub job or app belongs to a bot, and may not query its own user.
        const isOwn = self.id === undefined ? user?.type === 'Bot' : (user ?? author)?.id === self.id
        if (isOwn) return id
      }
      if (!hasMore || items.length === 0) return undefined
    }
    return undefined
  }

  /** Returns the id of the token's user; undefined if the token may not query it. */
  async function whoWeAre(): Promise<number | undefined> {
    try {
      const purpose = 'ask whose the token is'
      return (await api.object({ method: 'GET', path: '/user', purpose, mayRepeat: true, signal }, forgeUser)).id
    } catch (error) {
      if (isRefused(error, 401, 403, 404)) return undefined
      throw error
    }
  }
}
