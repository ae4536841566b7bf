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

/** A forge refuses a call, or does not answer it. */
export class ForgeError extends UserError {
  /** Absent where there was no answer. */
  readonly status: number | undefined
  /** The forge's own error message; empty if it sent none. */
  readonly said: string
  /**
   * True if the forge might have carried out the call nevertheless: the connection was cut, or a gateway answered
   * instead of the forge.
   */
  readonly maybeDone: boolean
  /** True if there were too many calls: it says nothing of what was asked. */
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

/** The call that a message is about. */
export interface Subject {
  readonly forge: ForgeModule
  readonly site: Site
  /** The variable that the token comes from. */
  readonly variable: string
  /** The purpose of the call: `open a pull request`. */
  readonly purpose: string
  /** The rights that the call needs, in words, if they are more than those for requests. */
  readonly permission?: string | undefined
  /** The only repository that the token is for, where that is known and another one. */
  readonly tokenOf?: string | undefined
}

/**
 * Explains to a user why a forge has refused a call. `said` is what `refusalText` found in the
 * answer.
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
    // Most say the same once more.
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

/** Explains to a user why there is no answer. `error` is Node's. */
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

/**
 * True if a retry can succeed: after a connection that was cut or could not be made, but not after
 * a certificate that is wrong.
 */
export const isPassing = (error: unknown): boolean => neverSent(error) || isCut(error)

/** Returns the answer, or false for a refusal: the user has no rights, or the token may not ask about them. */
export async function unlessRefused(asked: Promise<boolean>): Promise<boolean> {
  try {
    return await asked
  } catch (error) {
    if (isNoRight(error)) return false
    throw error
  }
}

/** True for a refusal that a retry would not change: the resource does not exist, or the token has no access to it. */
export const isNoRight = (error: unknown): boolean =>
  error instanceof ForgeError && !error.isLimited && (error.status === 403 || error.status === 404)

/** True for a refusal with one of these statuses. */
export const isRefused = (error: unknown, ...statuses: readonly number[]): boolean =>
  error instanceof ForgeError && error.status !== undefined && statuses.includes(error.status)
