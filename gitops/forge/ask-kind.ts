import { proxyFor } from '../../adapters/http/proxy.ts'
import { parseRepositoryAddress } from './address.ts'
import { type Answer, exchange } from './exchange.ts'
import type { Forge, ForgeKind } from './forge.ts'
import { type ForgeOptions, forgeOf } from './forge-of.ts'
import { type Env, siteOf } from './site.ts'

/** Milliseconds for all questions together: without an answer, the forge is one that nothing is known of. */
const DEADLINE = 5000

/**
 * The forge that a repository address belongs to, as `forgeOf`; where neither the host, the environment nor an option tells what kind it is, its server is asked, once and without a
 * token. Rejects with the reason of the signal only.
 */
export async function findForge(
  repository: string,
  env: Env,
  options: ForgeOptions,
  signal: AbortSignal,
): Promise<Forge | undefined> {
  if (options.forge !== undefined || siteOf(repository, env)) return forgeOf(repository, env, options)
  const kind = await askKind(repository, env, signal)
  return kind && forgeOf(repository, env, { ...options, forge: kind })
}

/** What a server of a kind answers to whoever asks, logged in or not. */
interface Question {
  readonly kind: ForgeKind
  readonly path: string
  readonly isIt: (answer: Answer) => boolean
}

const QUESTIONS: readonly Question[] = [
  {
    kind: 'gitea',
    path: '/api/v1/version',
    // Where everybody has to log in it is an error, which names the description of the API
    // (https://docs.gitea.com/development/api-usage); Forgejo is the same.
    isIt: ({ status, text }) => {
      const { version, url } = fieldsOf(text)
      return status === 200 ? typeof version === 'string' : typeof url === 'string' && url.endsWith('/api/swagger')
    },
  },
  {
    kind: 'gitlab',
    path: '/api/v4/version',
    // It wants a token (https://docs.gitlab.com/api/version/): 401, with headers of its own.
    isIt: ({ headers }) => Object.keys(headers).some(name => name.startsWith('x-gitlab-')),
  },
  {
    kind: 'github',
    path: '/api/v3/meta',
    // https://docs.github.com/enterprise-server/rest/meta/meta; in private mode 401, with the same headers.
    isIt: ({ headers }) => 'x-github-request-id' in headers || 'x-github-enterprise-version' in headers,
  },
]

async function askKind(repository: string, env: Env, signal: AbortSignal): Promise<ForgeKind | undefined> {
  const address = parseRepositoryAddress(repository)
  if (!address) return undefined
  const root = address.web ?? new URL(`https://${address.host}`)
  const found = new AbortController()
  const end = AbortSignal.any([signal, found.signal, AbortSignal.timeout(DEADLINE)])
  try {
    return await Promise.any(
      QUESTIONS.map(async question => {
        if (question.isIt(await ask(new URL(question.path, root), env, end))) return question.kind
        throw new Error('another one')
      }),
    )
  } catch {
    signal.throwIfAborted()
    return undefined
  } finally {
    found.abort()
  }
}

function ask(url: URL, env: Env, signal: AbortSignal): Promise<Answer> {
  const headers = { accept: 'application/json', 'user-agent': 'devctl' }
  return exchange({ method: 'GET', url, headers, body: undefined }, proxyFor(url, env), signal)
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
