import type { ForgeKind } from '../../../compiler/values/repository-names.ts'
import type { RepositoryFacts } from '../facts.ts'
import type { PullRequests, RepositoryWebhooks } from '../forge.ts'
import type { ForgeVariables } from '../forge-module.ts'
import { FORGES } from '../forges.ts'
import { ForgeApi, type ForgeRetries } from './api-request.ts'
import { clamped } from './clamp-body.ts'

/** A repository whose forge is known, and the token to ask with. */
export interface AskedRepository {
  readonly kind: ForgeKind
  /** The root of the pages of the server, without a slash at the end. */
  readonly web: string
  /** The root of its API, where that is another one than is usual. */
  readonly api?: string
  /** `owner/name`. */
  readonly path: string
  readonly token: string
  /** Source of the token, for messages. */
  readonly tokenName: string
}

/** Asks a forge about a repository; proxies come from `env`, and nothing else does. */
export const factsOf = (
  asked: AskedRepository,
  env: ForgeVariables,
  retries: Partial<ForgeRetries> = {},
): RepositoryFacts => FORGES[asked.kind].facts(apiOf(asked, env, retries))

/** Comments on its requests, with the same token. */
export const commentsOf = (
  asked: AskedRepository,
  env: ForgeVariables,
  retries: Partial<ForgeRetries> = {},
): Pick<PullRequests, 'comment'> => clamped(FORGES[asked.kind].connect(apiOf(asked, env, retries)), asked.kind)

/** Webhooks in its settings, with the same token. */
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
