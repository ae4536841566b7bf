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

/** Total timeout for all probes in milliseconds, after which the forge counts as unknown. */
const TIMEOUT = 5000

/**
 * Returns the forge of a repository address, as `forgeOf` does. If neither the host, the environment nor an option
 * determines the kind, probes the server once without a token, for at most `timeout` milliseconds. Rejects only with
 * the signal's abort reason.
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
  // All probes run at the same time. If two modules recognize the server, the first in the list wins, whichever
  // response arrived first.
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
