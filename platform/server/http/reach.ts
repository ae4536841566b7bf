import { openQuestion } from '../../../adapters/forge/open-question.ts'
import { codeOf, failureOf } from '../../../adapters/http/failure.ts'
import { withTimeLimit } from '../../../adapters/process/time-limit.ts'
import { discoveryUrl, shownText } from '../../rules/accounts/provider.ts'
import type { NeededServer, ReachFailure } from '../../rules/dependencies.ts'
import { providerFetch } from '../login/providers/provider-fetch.ts'

/** Timeout for all requests to one server, in milliseconds. */
const LIMIT = 5000

/**
 * Checks that this process can use a server with the current settings: the server is reachable and trusted, and an
 * identity provider reports the expected issuer. Sends no credentials. Returns the reason if the server cannot be used.
 * Rejects only with the signal's abort reason.
 */
export async function reachFailure(
  one: NeededServer,
  signal: AbortSignal,
  limit = LIMIT,
): Promise<ReachFailure | undefined> {
  const within = withTimeLimit(limit, signal)
  try {
    if (one.kind === 'oidc' || one.kind === 'ci') return await documentFailure(one, within)
    if (one.kind === 'github') {
      const web = await answerFailure(new URL('/login', one.address), within, 'HEAD')
      return web ?? (await answerFailure(openQuestion(one.kind, new URL(one.address).origin), within))
    }
    return one.forge && (await answerFailure(openQuestion(one.forge, one.address, one.api), within))
  } catch (error) {
    signal.throwIfAborted()
    return within.aborted ? { kind: 'timeout', seconds: limit / 1000 } : toReachFailure(error, limit)
  }
}

const HEADERS = { accept: 'application/json', 'user-agent': 'devctl' }

async function documentFailure(
  { kind, address }: NeededServer,
  signal: AbortSignal,
): Promise<ReachFailure | undefined> {
  const url = discoveryUrl(address)
  const answer = await providerFetch(url, { headers: HEADERS, signal })
  if (answer.status !== 200) return { kind: 'status', url, status: answer.status }
  const { issuer } = Object(await answer.json().catch(() => undefined)) as { readonly issuer?: unknown }
  if (typeof issuer !== 'string') return { kind: 'no-document', url }
  // Issuers are compared as exact strings for CI tokens.
  const isSame = kind === 'ci' ? issuer === address : URL.canParse(issuer) && hrefOf(issuer) === hrefOf(address)
  return isSame ? undefined : { kind: 'issuer', found: shownText(issuer, 200) ?? '' }
}

const hrefOf = (url: string): string => new URL(url).href

/**
 * Returns a failure if a server responds with 404 or 5xx. Other statuses, such as 401, are fine, because the request
 * has no token.
 */
async function answerFailure(
  url: URL,
  signal: AbortSignal,
  method: 'GET' | 'HEAD' = 'GET',
): Promise<ReachFailure | undefined> {
  const { status } = await providerFetch(url, { method, headers: HEADERS, signal })
  return status >= 500 || status === 404 ? { kind: 'status', url: url.href, status } : undefined
}

/** Converts an error of Node.js, or a NoAnswer, to a failure. */
export function toReachFailure(error: unknown, limit = LIMIT): ReachFailure {
  const detail = shownText(error instanceof Error ? error.message : String(error), 200) ?? 'unknown error'
  const failure = failureOf(error)
  switch (failure) {
    case 'no-connection':
    case 'no-answer':
      return { kind: 'timeout', seconds: limit / 1000 }
    case 'certificate': {
      const code = codeOf(error)
      if (code === 'CERT_HAS_EXPIRED') return { kind: 'expired' }
      return code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? { kind: 'wrong-host' } : { kind: 'untrusted', detail }
    }
    case 'proxy':
    case 'other':
      return { kind: failure, detail }
    default:
      return { kind: failure }
  }
}
