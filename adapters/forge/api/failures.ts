import { type ErrorDetails, UserError } from '../../../compiler/diagnostics/user-error.ts'
import { type ConnectionFailure, failureOf, isCut, neverSent } from '../../http/failure.ts'
import type { ForgeModule, Site } from '../forge-module.ts'
import type { ForgeAnswer } from './exchange.ts'
import { isLimited, whenText } from './rate-limit.ts'

interface ForgeDetails extends ErrorDetails {
  readonly status?: number | undefined
  readonly said?: string
  readonly maybeDone?: boolean
  readonly isLimited?: boolean
}

/** Error of a forge that refuses a call, or does not respond. */
export class ForgeError extends UserError {
  /** HTTP status; undefined if there was no response. */
  readonly status: number | undefined
  /** The forge's own error message; empty if it sent none. */
  readonly said: string
  /**
   * True if the forge might have carried out the call despite the error: the connection was lost, or a gateway
   * responded instead of the forge.
   */
  readonly maybeDone: boolean
  /** True if the rate limit was exceeded, which says nothing about the call itself. */
  readonly isLimited: boolean

  constructor(
    message: string,
    { status, said = '', maybeDone = false, isLimited = false, ...details }: ForgeDetails = {},
  ) {
    super(message, details)
    this.status = status
    this.said = said
    this.maybeDone = maybeDone
    this.isLimited = isLimited
  }
}

/** The call that an error message is about. */
export interface Subject {
  readonly forge: ForgeModule
  readonly site: Site
  /** Name of the variable that contains the token. */
  readonly variable: string
  /** Purpose of the call: `open a pull request`. */
  readonly purpose: string
  /** Permissions that the call needs, in words; absent if the permissions for handling pull requests are enough. */
  readonly permission?: string | undefined
  /**
   * The only repository that the token is valid for. Set only if it is known, and if the call is about another
   * repository.
   */
  readonly tokenOf?: string | undefined
}

/**
 * Returns an error that explains to the user why a forge refused a call. `said` is the result of `refusalText` for the
 * response.
 */
export function refusal(
  { forge, site, variable, purpose, permission, tokenOf }: Subject,
  { status, headers, text }: ForgeAnswer,
  said: string,
): ForgeError {
  const { name } = forge
  // A 5xx comes from the forge or from something in front of it: the outcome of the request is unknown.
  const fail = (message: string, hint?: string) =>
    new ForgeError(message, { status, said, maybeDone: status >= 500, ...(hint && { hint }) })
  const words = said === '' ? '' : `: ${said}`
  if (status === 401)
    return fail(
      `${name} does not accept the token in \`${variable}\`${words}`,
      'it has expired, was revoked, or is for another server: create a new one',
    )
  if (isLimited(status, headers, said))
    return new ForgeError(`${name} does not accept more requests for now${words}`, {
      status,
      said,
      isLimited: true,
      hint: `try again ${whenText(headers)}: this token or address has reached its rate limit`,
    })
  const own = forge.refusal?.({ status, headers, text }, variable)
  if (own) return fail(own.message, own.hint)
  if (status === 403)
    return fail(
      `${name} does not let the token of \`${variable}\` ${purpose}${words}`,
      permission ?? permissionHint(forge, said, tokenOf),
    )
  if (status === 404) {
    // Most forges only repeat "not found".
    const more = /not (be )?found$/i.test(said) ? '' : words
    return fail(
      `${name} has no repository \`${site.path}\`, or the token of \`${variable}\` has no access to it${more}`,
      `see whether \`${site.web}/${site.path}\` is right; ${permission ?? permissionHint(forge, said, tokenOf)}`,
    )
  }
  if (status >= 500)
    return fail(`\`${new URL(site.api).host}\` answers ${status} when asked to ${purpose}${words}`, 'try again later')
  return fail(`${name} refuses to ${purpose}${words || `: status ${status}`}`)
}

function permissionHint(forge: ForgeModule, said: string, tokenOf: string | undefined): string {
  if (tokenOf !== undefined)
    return `the token of a workflow is for its own repository, \`${tokenOf}\`: make one for this repository and set \`DEVCTL_FORGE_TOKEN\` to it`
  return forge.permissionHint(said)
}

/** Returns an error that explains to the user why there is no response. `error` comes from Node.js. */
export function noAnswer({ site, purpose }: Subject, error: unknown): ForgeError {
  const host = new URL(site.api).host
  const details = { cause: error, maybeDone: !neverSent(error) }
  const because = REASONS[failureOf(error)] ?? (error as Error).message // Node rejects with nothing else
  return new ForgeError(`could not ${purpose}: no answer from \`${host}\`: ${because}`, details)
}

const REASONS: Partial<Record<ConnectionFailure, string>> = {
  name: 'its name does not resolve',
  refused: 'nothing listens there',
  cut: 'the connection was cut',
}

/** Returns true if a retry can succeed: after a lost or failed connection, but not after an invalid certificate. */
export const isPassing = (error: unknown): boolean => neverSent(error) || isCut(error)

/**
 * Returns the result of `asked`, a query about a permission. Returns false if the forge refuses the query because the
 * user has no permission, or because the token may not query permissions.
 */
export async function unlessRefused(asked: Promise<boolean>): Promise<boolean> {
  try {
    return await asked
  } catch (error) {
    if (isNoRight(error)) return false
    throw error
  }
}

/**
 * Returns true for a refusal that a retry would not change: the resource does not exist, or the token has no access to
 * it.
 */
export const isNoRight = (error: unknown): boolean => isRefused(error, 403, 404)

/** Returns true for a forge's refusal with one of the given HTTP statuses, except for that of a rate limit. */
export const isRefused = (error: unknown, ...statuses: readonly number[]): boolean =>
  error instanceof ForgeError && !error.isLimited && error.status !== undefined && statuses.includes(error.status)
