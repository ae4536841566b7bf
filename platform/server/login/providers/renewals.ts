import type { Asking } from './provider.ts'
import { providerFetch } from './provider-fetch.ts'

/** Maximum length of a refresh token in characters. It has to fit into a record. */
export const LONGEST_REFRESH = 8192

/**
 * Refresh tokens that are being used. The library returns the next refresh token only after it has validated the entire
 * response, for which it may first download the provider's keys. If this fails, the next token would be lost, and the
 * previous one is already used up. So the next token is stored as soon as the response arrives.
 */
export class Renewals {
  /** Functions that store the next refresh token, by the one that is being used. */
  readonly #renewed = new Map<string, Asking['renewed']>()

  /** Runs a grant that uses a refresh token; `renewed` stores the next one. */
  async during<T>(refreshToken: string, renewed: Asking['renewed'], grant: () => Promise<T>): Promise<T> {
    this.#renewed.set(refreshToken, renewed)
    try {
      return await grant()
    } finally {
      this.#renewed.delete(refreshToken)
    }
  }

  /** Sends a request to the provider, and stores the refresh token that the provider issues in response to a grant. */
  async fetch(address: string, init: Parameters<typeof providerFetch>[1] = {}): Promise<Response> {
    const response = await providerFetch(address, init)
    const used = new URLSearchParams(String(init.body ?? '')).get('refresh_token') ?? ''
    const renewed = this.#renewed.get(used)
    const next = renewed && (await nextIn(response.clone()))
    if (next !== undefined && next !== used) await renewed?.(next)
    return response
  }
}

/** Returns the refresh token in the response to a grant; undefined if there is none that can be stored. */
async function nextIn(response: Response): Promise<string | undefined> {
  const value: unknown = await response.json().catch(() => undefined)
  const { refresh_token: next } = Object(value) as { readonly refresh_token?: unknown }
  const isUsable = response.ok && typeof next === 'string' && next !== '' && next.length <= LONGEST_REFRESH
  return isUsable ? next : undefined
}
