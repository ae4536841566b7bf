import type { IncomingHttpHeaders } from 'node:http'
import { type ErrorDetails, UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Answer } from './exchange.ts'
import { FORGE_NAMES } from './forge.ts'
import type { Site } from './site.ts'

interface ForgeDetails extends ErrorDetails {
  readonly status?: number | undefined
  readonly said?: string
  readonly maybeDone?: boolean
}

/** A forge refuses a call, or does not answer it. */
export class ForgeError extends UserError {
  /** Absent where there was no answer. */
  readonly status: number | undefined
  /** What the forge said about it, in its own words; empty where it said nothing. */
  readonly said: string
  /** Whether the forge may have done it all the same: the connection was cut, or its front door answered in its place. */
  readonly maybeDone: boolean

  constructor(message: string, { status, said = '', maybeDone = false, ...details }: ForgeDetails = {}) {
    super(message, details)
    this.status = status
    this.said = said
    this.maybeDone = maybeDone
  }
}

/** What a call was about, for messages. */
export interface Subject {
  readonly site: Site
  /** The variable that the token comes from. */
  readonly variable: string
  /** What it was to do: `open a pull request`. */
  readonly purpose: string
  /** The only repository that the token is for, where that is known and another one. */
  readonly tokenOf?: string | undefined
}

/** Says in a user's words why a forge has refused a call. `said` is what `wordsOf` found in the answer. */
export function refusal(
  { site, variable, purpose, tokenOf }: Subject,
  { status, headers }: Answer,
  said: string,
): ForgeError {
  const name = FORGE_NAMES[site.kind]
  // Behind a 5xx is the forge or something in front of it: nobody knows what became of the request.
  const fail = (message: string, hint?: string) =>
    new ForgeError(message, { status, said, maybeDone: status >= 500, ...(hint && { hint }) })
  const words = said === '' ? '' : `: ${said}`
  if (status === 401)
    return fail(
      `${name} refuses the token of \`${variable}\`${words}`,
      "it has expired, was revoked, or is another server's: make a new one",
    )
  if (isLimited(status, headers, said))
    return fail(
      `${name} takes no more requests for now${words}`,
      `try again ${whenText(headers)}: too much was asked with this token, or from this address`,
    )
  if (status === 403 && headers['x-github-sso'])
    return fail(
      `the token of \`${variable}\` is not authorized for the single sign-on of the organization`,
      'authorize it for the organization, in the settings of your tokens',
    )
  if (status === 403)
    return fail(
      `${name} does not let the token of \`${variable}\` ${purpose}${words}`,
      permissionHint(site, said, tokenOf),
    )
  if (status === 404) {
    // Most say the same once more.
    const more = /not (be )?found$/i.test(said) ? '' : words
    return fail(
      `${name} knows no repository \`${site.path}\`, or the token of \`${variable}\` has no access to it${more}`,
      `see whether \`${site.web}/${site.path}\` is right; ${permissionHint(site, said, tokenOf)}`,
    )
  }
  if (status >= 500)
    return fail(`\`${new URL(site.api).host}\` answers ${status} when asked to ${purpose}${words}`, 'try again later')
  return fail(`${name} refuses to ${purpose}${words || `: status ${status}`}`)
}

/** Whether an answer means that less should be asked, and nothing else. GitHub says so with 403, too. */
export function isLimited(status: number, headers: IncomingHttpHeaders, said: string): boolean {
  if (status === 429) return true
  if (status !== 403) return false
  return headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0' || /rate limit/i.test(said)
}

/** Milliseconds that an answer asks to wait: in seconds or as a date, or until the limit begins anew; undefined where it does not say. */
export function pauseAsked(headers: IncomingHttpHeaders, now = Date.now()): number | undefined {
  const after = headers['retry-after']
  if (after !== undefined) {
    const until = /^\d+$/.test(after.trim()) ? Number(after) * 1000 : Date.parse(after) - now
    return Number.isNaN(until) ? undefined : Math.max(0, until)
  }
  // GitHub's and GitLab's, in seconds since 1970.
  const isUsedUp = headers['x-ratelimit-remaining'] === '0' || headers['ratelimit-remaining'] === '0'
  const reset = Number(headers['x-ratelimit-reset'] ?? headers['ratelimit-reset'])
  return isUsedUp && reset > 0 ? Math.max(0, reset * 1000 - now) : undefined
}

function whenText(headers: IncomingHttpHeaders): string {
  const pause = pauseAsked(headers)
  if (pause === undefined) return 'in some minutes'
  return pause < 100_000 ? `in ${Math.ceil(pause / 1000)} s` : `in ${Math.ceil(pause / 60_000)} min`
}

function permissionHint({ kind }: Site, said: string, tokenOf: string | undefined): string {
  if (tokenOf !== undefined)
    return `the token of a workflow is for its own repository, \`${tokenOf}\`: make one for this repository and set \`DEVCTL_FORGE_TOKEN\` to it`
  if (/GitHub Actions is not permitted/i.test(said))
    return 'switch on "Allow GitHub Actions to create and approve pull requests" in the settings of the repository, or use a token of an app'
  switch (kind) {
    case 'github':
      return 'the token needs the scope `repo`, or the permission "Pull requests: write" for this repository (`pull-requests: write` in a workflow)'
    case 'gitlab':
      return 'the token needs the scope `api`, and the role Developer in the project'
    case 'gitea':
      return 'the token needs the permissions `write:repository` and `write:issue`'
  }
}

/** Says in a user's words why there is no answer. `error` is Node's. */
export function noAnswer({ site, purpose }: Subject, error: unknown): ForgeError {
  const { code = '', message } = error as NodeJS.ErrnoException // Node rejects with nothing else
  const host = new URL(site.api).host
  const details = { cause: error, maybeDone: !neverSent(error) }
  const because =
    code === 'ENOTFOUND' || code === 'EAI_AGAIN'
      ? 'its name leads to no address'
      : code === 'ECONNREFUSED'
        ? 'nothing listens there'
        : code === 'ECONNRESET' || code === 'EPIPE'
          ? 'the connection was cut'
          : message
  return new ForgeError(`could not ${purpose}: no answer from \`${host}\`: ${because}`, details)
}

/** Whether the same may go well a moment later: a connection that was cut or could not be made, not a certificate that is wrong. */
export const isPassing = (error: unknown): boolean =>
  neverSent(error) ||
  ['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ETIMEDOUT', 'ERR_STREAM_PREMATURE_CLOSE'].includes(codeOf(error))

/** Whether the request never got as far as the server. */
export const neverSent = (error: unknown): boolean =>
  ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EPROXY'].includes(codeOf(error))

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? ''

/**
 * What an answer says went wrong: `message` as text, list or object of lists (GitLab), `errors` as list of texts (Gitea) or of objects
 * (GitHub), `error` and `error_description` (OAuth). Empty where it is no JSON: a web page of a proxy. Nothing in it can harm a terminal.
 */
export function wordsOf(text: string, secret: string): string {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    return ''
  }
  if (!isRecord(content)) return ''
  const { message, errors, error, error_description: description } = content
  const details = [...textsOf(errors), ...textsOf(description)]
  // "Validation Failed" says nothing that its details do not say.
  const said = [
    ...(details.length > 0 && /^validation failed$/i.test(String(message)) ? [] : textsOf(message)),
    ...details,
  ]
  const all = said.length > 0 ? said : textsOf(error)
  const clean = [...new Set(all)]
    .join('; ')
    .replaceAll(secret, '***')
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  return (clean.length > 300 ? `${clean.slice(0, 299)}…` : clean).replace(/\.$/, '')
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value]
  if (Array.isArray(value)) return value.flatMap(textsOf)
  if (!isRecord(value)) return []
  // One of GitHub's: https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api#validation-failed
  if (typeof value.message === 'string') return [value.message]
  if (typeof value.code === 'string') return [[value.field, value.code].filter(Boolean).join(' ').replaceAll('_', ' ')]
  return Object.entries(value).flatMap(([field, inner]) =>
    textsOf(inner).map(text => (field === 'base' ? text : `${field} ${text}`)),
  )
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
