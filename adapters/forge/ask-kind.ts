import type { ForgeKind } from '../../compiler/values/repository-names.ts'
import { proxyFor } from '../http/proxy.ts'
import { withTimeLimit } from '../process/time-limit.ts'
import { parseRepositoryAddress } from './address.ts'
import { exchange, type ForgeAnswer } from './api/exchange.ts'
import type { Forge } from './forge.ts'
import type { ForgeVariables } from './forge-module.ts'
import { type ForgeOptions, forgeOf } from './forge-of.ts'
import { ALL_FORGES } from './forges.ts'
import { siteOf } from './site.ts'

/** Milliseconds for all questions together: without an answer in this time, the forge is unknown. */
const TIMEOUT = 5000

/**
 * The forge that a repository address belongs to, as `forgeOf`; where neither the host, the
 * environment nor an option says what kind it is, its server is asked, once and without a token, for
 * at most `timeout` milliseconds.
 * Rejects with the reason of the signal only.
 */
export async function findForge(
  repository: string,
  env: ForgeVariables,
  options: ForgeOptions,
  signal: AbortSignal,
  timeout = TIMEOUT,
): Promise<Forge | undefined> {
  if (options.forge !== undefined || siteOf(repository, env)) return forgeOf(repository, env, options)
  const kind = await askKind(repository, env, withTimeLimit(timeout), signal)
  return kind && forgeOf(repository, env, { ...options, forge: kind })
}

async function askKind(
  repository: string,
  env: ForgeVariables,
  timeout: AbortSignal,
  signal: AbortSignal,
): Promise<ForgeKind | undefined> {
  const address = parseRepositoryAddress(repository)
  if (!address) return undefined
  const root = address.web ?? new URL(`https://${address.host}`)
  const found = new AbortController()
  const end = AbortSignal.any([signal, found.signal, timeout])
  // All are asked at the same time. When two modules say yes, the one that stands first in the list
  // counts, whichever answer came first.
  const answers = ALL_FORGES.map(async ({ kind, question }) => {
    const answer = question && (await ask(new URL(question.path, root), env, end).catch(() => undefined))
    return answer && question.isIt(answer) ? kind : undefined
  })
  try {
    for (const answer of answers) {
      const kind = await answer
      if (kind !== undefined) return kind
    }
    signal.throwIfAborted()
    return undefined
  } finally {
    found.abort()
  }
}

function ask(url: URL, env: ForgeVariables, signal: AbortSignal): Promise<ForgeAnswer> {
  const headers = { accept: 'application/json', 'user-agent': 'devctl' }
  return exchange({ method: 'GET', url, headers, body: undefined }, proxyFor(url, env), signal)
}
