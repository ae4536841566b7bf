import type { ForgeKind } from '../../compiler/values/repository-names.ts'
import { parseRepositoryAddress } from './address.ts'
import type { ForgeModule, ForgeVariables, NamedServer, Site } from './forge-module.ts'
import { ALL_FORGES, FORGES } from './forges.ts'

/**
 * Returns the site of a repository address. The variables of a CI job, the host or the user's `forge` option determine
 * the forge. Undefined for a local folder, and for a host of an unknown forge.
 */
export function siteOf(repository: string, env: ForgeVariables, forge?: ForgeKind): Site | undefined {
  const address = parseRepositoryAddress(repository)
  if (!address) return undefined
  for (const server of serversOf(env)) {
    const isThere = address.web ? address.web.host === server.web.host : server.hosts.includes(address.host)
    if (!isThere || (forge !== undefined && forge !== server.module.kind)) continue
    // If the server is below a path, the clone address contains that path, but the SSH address does not.
    const below = `${server.web.pathname.replace(/^\/|\/$/g, '')}/`
    const path = address.web && address.path.startsWith(below) ? address.path.slice(below.length) : address.path
    return site(server.module, rootOf(server.web), server.api, path, true)
  }
  const module = forge === undefined ? ALL_FORGES.find(one => one.isHost(address.host)) : FORGES[forge]
  const web = address.web ?? new URL(`https://${address.host}`)
  return module && site(module, rootOf(web), undefined, address.path, false)
}

function site(module: ForgeModule, web: string, api: string | undefined, path: string, isOurs: boolean) {
  const parts = path.split('/').length
  const isRepository = parts === 2 || (module.hasSubgroups && parts > 2)
  return isRepository ? { kind: module.kind, web, api: api ?? module.apiOf(web), path, isOurs } : undefined
}

interface Server {
  readonly module: ForgeModule
  readonly web: URL
  /** Host names in SSH addresses of the forge's repositories. */
  readonly hosts: readonly string[]
  readonly api: string | undefined
}

/** Returns the forges that the variables of a CI job name. */
const serversOf = (env: ForgeVariables): readonly Server[] =>
  ALL_FORGES.flatMap(module => module.serversIn(env).flatMap(named => server(module, named) ?? []))

function server(module: ForgeModule, { web, api, ssh }: NamedServer): Server | undefined {
  const apiRoot = api && URL.canParse(api) ? new URL(api) : undefined
  const root = web && URL.canParse(web) ? new URL(web) : apiRoot && new URL(apiRoot.origin)
  if (!root) return undefined
  return {
    module,
    web: root,
    hosts: [root.hostname, ...(ssh ? [ssh.toLowerCase()] : [])],
    api: apiRoot && rootOf(apiRoot),
  }
}

const rootOf = (url: URL): string => `${url.origin}${url.pathname}`.replace(/\/+$/, '')
