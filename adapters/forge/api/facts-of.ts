import type { ForgeKind } from '../../../compiler/values/repository-names.ts'
import type { RepositoryFacts } from '../facts.ts'
import type { PullRequests, RepositoryWebhooks } from '../forge.ts'
import type { ForgeVariables } from '../forge-module.ts'
import { FORGES } from '../forges.ts'
import { ForgeApi, type ForgeRetries } from './api-request.ts'
import { clamped } from './clamp-body.ts'

/** A repository whose forge is known, and the token for the calls. */
export interface AskedRepository {
  readonly kind: ForgeKind
  /** Root of the server's web pages, without a trailing slash. */
  readonly web: string
  /** Root of the server's API, if it is not the default. */
  readonly api?: string
  /** Path of the repository: `owner/name`. */
  readonly path: string
  readonly token: string
  /** Source of the token, for messages. */
  readonly tokenName: string
}

/** Returns access to the facts that a forge reports about a repository. Only the proxy settings are read from `env`. */
export const factsOf = (
  asked: AskedRepository,
  env: ForgeVariables,
  retries: Partial<ForgeRetries> = {},
): RepositoryFacts => FORGES[asked.kind].facts(apiOf(asked, env, retries))

/** Returns access to the comments on the repository's requests. Uses the token in `asked`. */
export const commentsOf = (
  asked: AskedRepository,
  env: ForgeVariables,
  retries: Partial<ForgeRetries> = {},
): Pick<PullRequests, 'comment'> => clamped(FORGES[asked.kind].connect(apiOf(asked, env, retries)), asked.kind)

/** Returns access to the webhooks in the repository's settings. Uses the token in `asked`. */
export const webhooksOf = (
  asked: AskedRepository,
  env: ForgeVariables,
  retries: Partial<ForgeRetries> = {},
): RepositoryWebhooks => FORGES[asked.kind].webhooks(apiOf(asked, env, retries))

function apiOf(
  { kind, web, api, path, token, tokenName }: AskedRepository,
  env: ForgeVariables,
  retries: Partial<ForgeRetries>,
): ForgeApi {
  const module = FORGES[kind]
  const site = { kind, web, api: api ?? module.apiOf(web), path, isOurs: false }
  const login = { variable: tokenName, token, headers: module.headers(token) }
  const proxies = Object.fromEntries(Object.entries(env).filter(([name]) => /_proxy$/i.test(name)))
  return new ForgeApi(site, module, login, proxies, retries)
}
