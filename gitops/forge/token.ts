import { isLoopback, maySendToken } from '../token-host.ts'
import { FORGE_NAMES, type ForgeKind } from './forge.ts'
import type { Env, Site } from './site.ts'

/** A token and the variable it comes from; or why there is none, in words. */
export type Found =
  | { readonly variable: string; readonly token: string }
  | { readonly token?: undefined; readonly reason: string }

/** Works with each of them. */
const ANY = 'DEVCTL_FORGE_TOKEN'
const NAMES: Readonly<Record<ForgeKind, readonly string[]>> = {
  github: ['GITHUB_TOKEN', 'GH_TOKEN'],
  gitlab: ['GITLAB_TOKEN'],
  gitea: ['GITEA_TOKEN', 'FORGEJO_TOKEN'],
}
/** As the command line of GitHub has it: those of github.com are not sent to other servers. */
const ENTERPRISE = ['GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN']

/**
 * The token for a forge, from the environment only, and only where nothing but the checkout has to be believed that it belongs there (`token-host.ts`). One that belongs to another server is
 * left alone: the token of a job is that of the forge the job runs on. `isNamedByUser`: an option of the command line names the repository.
 */
export function tokenFor(site: Site, env: Env, isNamedByUser = false): Found {
  if (!isSafe(site.api)) return { reason: `a token is not sent to \`${site.api}\`: it is not https` }
  const names = [ANY, ...namesFor(site, env)]
  for (const variable of names) {
    const token = env[variable]?.trim()
    if (!token) continue
    // It would end up in a header.
    if (/[^\x21-\x7e]/.test(token))
      return { reason: `\`${variable}\` holds no token: there are blanks or other characters in it` }
    const web = new URL(site.web)
    const known = [...knownOrigins(variable, site, env), ...(isNamedByUser || site.isOurs ? [web.origin] : [])]
    const may = maySendToken(variable, web, withHost(variable, env), known)
    return may.ok ? { variable, token } : { reason: `${may.reason}: ${may.hint}` }
  }
  const set = `set ${names.map(name => `\`${name}\``).join(' or ')}`
  const unfit = NAMES[site.kind].find(name => env[name]?.trim())
  if (unfit && !names.includes(unfit)) return { reason: `\`${unfit}\` is not for ${hostOf(site)}: ${set}` }
  if (site.kind === 'gitlab' && env.CI_JOB_TOKEN)
    return {
      reason: `the token of a job (\`CI_JOB_TOKEN\`) cannot open merge requests: ${set} to a project or group token with the scope \`api\``,
    }
  return { reason: `there is no token for ${FORGE_NAMES[site.kind]}: ${set}` }
}

function namesFor(site: Site, env: Env): readonly string[] {
  const names = NAMES[site.kind]
  if (site.isOurs) return site.kind === 'gitea' ? [...names, 'GITHUB_TOKEN'] : names
  if (site.kind === 'gitlab') return env.CI_SERVER_URL ? [] : names
  if (site.kind === 'gitea') return env.FORGEJO_SERVER_URL || env.GITEA_SERVER_URL ? [] : names
  const host = new URL(site.web).hostname
  const isHosted = host === 'github.com' || host.endsWith('.ghe.com')
  return isHosted ? (env.GITHUB_SERVER_URL ? [] : names) : ENTERPRISE
}

const hostOf = (site: Site): string => `\`${new URL(site.web).host}\``

/** Servers that the name of a variable says: the public ones, and those that the command line tools of the forges take from the environment. */
function knownOrigins(variable: string, { web }: Site, env: Env): readonly string[] {
  const { origin, hostname } = new URL(web)
  if (NAMES.github.includes(variable)) return hostname === 'github.com' || hostname.endsWith('.ghe.com') ? [origin] : []
  if (ENTERPRISE.includes(variable)) return env.GH_HOST ? [`https://${env.GH_HOST}`] : []
  if (NAMES.gitlab.includes(variable))
    return ['https://gitlab.com', ...(env.GITLAB_HOST ? [`https://${env.GITLAB_HOST.replace(/^https:\/\//, '')}`] : [])]
  return []
}

/** The host of DEVCTL_GIT_TOKEN is that of DEVCTL_FORGE_TOKEN where that one has none of its own. */
const withHost = (variable: string, env: Env): Env =>
  variable === ANY ? { ...env, [`${ANY}_HOST`]: env[`${ANY}_HOST`] || env.DEVCTL_GIT_TOKEN_HOST } : env

/** Whether nobody on the way can read what is sent: https, or this machine. */
function isSafe(address: string): boolean {
  const { protocol, hostname } = new URL(address)
  return protocol === 'https:' || isLoopback(hostname)
}
