import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { type ForgeServer, isForgeServer, rootOf } from '../rules/forge-servers.ts'
import { HOOK_FORGES } from '../rules/previews/webhook-signature.ts'

const EXAMPLE = 'write `gitea=https://git.example.com`, and `,api=https://…` where its API is elsewhere'

/**
 * Returns the forges that may send webhooks, from options such as `gitea=https://git.example.com`. Without options, the
 * installed forges stay; `-` removes all of them. Throws a UsageError if an option is not a valid forge.
 */
export function wantedForges(options: readonly string[] | undefined, installed: unknown): unknown {
  if (options === undefined) return installed
  if (options.length === 1 && options[0] === '-') return []
  const servers = options.map(toServer)
  const twice = servers.find(({ url }, at) => servers.findIndex(one => one.url === url) !== at)
  if (twice) throw refuse(options.join(' --forge '), `\`${twice.url}\` is there twice`)
  return servers
}

function toServer(option: string): ForgeServer {
  const [, name, url, api] = /^([^=]*)=([^,]*)(?:,api=([^,]*))?$/.exec(option) ?? []
  if (url === undefined) throw refuse(option, 'which server, of which kind?')
  const kind = HOOK_FORGES.find(one => one === name)
  if (!kind) throw refuse(option, `\`${name}\` is none of ${HOOK_FORGES.map(one => `\`${one}\``).join(', ')}`)
  const server = { kind, url: rootOf(url), ...(api !== undefined && { api: rootOf(api) }) }
  if (!isForgeServer(server)) throw refuse(option, 'an address begins with `https://`, and has no user and no query')
  return server
}

const refuse = (option: string, why: string): UsageError =>
  new UsageError(`\`--forge ${option}\`: ${why}`, { hint: EXAMPLE })
