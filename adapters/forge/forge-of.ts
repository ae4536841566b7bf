import type { ForgeKind } from '../../compiler/values/repository-names.ts'
import { ForgeApi, type ForgeRetries } from './api/api-request.ts'
import { clamped } from './api/clamp-body.ts'
import type { Forge } from './forge.ts'
import type { ForgeVariables } from './forge-module.ts'
import { FORGES } from './forges.ts'
import { siteOf } from './site.ts'
import { tokenFor } from './token.ts'

export interface ForgeOptions {
  /** Value of `--forge`, for a host whose name does not identify its kind. */
  readonly forge?: ForgeKind
  /** Number of attempts of a call, the pauses between them, and the function that is notified of pauses (`onPause`). */
  readonly retries?: Partial<ForgeRetries>
  /** True if a command line option names the repository. The forge may then receive the user's token. */
  readonly isNamedByUser?: true | undefined
}

/**
 * Returns the forge of a repository address (https, ssh, `git@host:owner/name.git`); undefined for a local folder and
 * for an unknown host. Reads tokens and proxies from `env` and sends no requests.
 */
export function forgeOf(repository: string, env: ForgeVariables, options: ForgeOptions = {}): Forge | undefined {
  const { forge, retries, isNamedByUser } = options
  const site = siteOf(repository, env, forge)
  if (!site) return undefined
  const found = tokenFor(site, env, isNamedByUser)
  const module = FORGES[site.kind]
  const { name, noun } = module
  const root = `${site.web}/${site.path.split('/').map(encodeURIComponent).join('/')}`
  const base = { kind: site.kind, name, noun, ...module.pages(root) }
  if (found.token === undefined) return { ...base, requests: undefined, withoutToken: found.reason }
  const login = { ...found, headers: module.headers(found.token) }
  const api = new ForgeApi(site, module, login, env, retries)
  return { ...base, requests: clamped(module.connect(api), site.kind) }
}
