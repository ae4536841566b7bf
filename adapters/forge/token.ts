import type { ForgeVariables, Site } from './forge-module.ts'
import { FORGES } from './forges.ts'
import { isLoopback, maySendToken } from './token-host.ts'

/** A token and its variable, or the reason why there is none, in words. */
export type FoundToken =
  | { readonly variable: string; readonly token: string }
  | { readonly token?: undefined; readonly reason: string }

/** Name of the variable that works with every forge. */
const ANY = 'DEVCTL_FORGE_TOKEN'

/**
 * Returns the token for a forge from the environment, or the reason why there is none. Returns no token if only the
 * checkout determines the server that would receive it (`token-host.ts`). Never returns a token of another server: a
 * job token belongs to the forge that runs the job. `isNamedByUser` is true if a command line option names the
 * repository.
 */
export function tokenFor(site: Site, env: ForgeVariables, isNamedByUser = false): FoundToken {
  if (!isSafe(site.api)) return { reason: `a token is not sent to \`${site.api}\`: it is not https` }
  const { name: forge, noun, tokens } = FORGES[site.kind]
  const names = [ANY, ...tokens.namesFor(site, env)]
  for (const variable of names) {
    const token = env[variable]?.trim()
    if (!token) continue
    // The value would be sent in a header.
    if (/[^\x21-\x7e]/.test(token))
      return {
        reason: `\`${variable}\` does not hold a token: it contains spaces or other characters that no token has`,
      }
    const web = new URL(site.web)
    const known = [...tokens.knownOrigins(variable, site, env), ...(isNamedByUser || site.isOurs ? [web.origin] : [])]
    const may = maySendToken(variable, web, withHost(variable, env), known)
    return may.ok ? { variable, token } : { reason: `${may.reason}: ${may.hint}` }
  }
  const set = `set ${names.map(name => `\`${name}\``).join(' or ')}`
  const other = tokens.names.find(name => env[name]?.trim())
  if (other && !names.includes(other)) return { reason: `\`${other}\` is not for ${hostOf(site)}: ${set}` }
  const { unfit } = tokens
  if (unfit && env[unfit.variable])
    return { reason: `the token of a job (\`${unfit.variable}\`) cannot open ${noun}s: ${set} to ${unfit.instead}` }
  return { reason: `there is no token for ${forge}: ${set}` }
}

const hostOf = (site: Site): string => `\`${new URL(site.web).host}\``

/**
 * Returns the environment. If the variable is DEVCTL_FORGE_TOKEN and DEVCTL_FORGE_TOKEN_HOST is not set, sets the
 * latter to the value of DEVCTL_GIT_TOKEN_HOST.
 */
const withHost = (variable: string, env: ForgeVariables): ForgeVariables =>
  variable === ANY ? { ...env, [`${ANY}_HOST`]: env[`${ANY}_HOST`] || env.DEVCTL_GIT_TOKEN_HOST } : env

/** Returns true if data sent to the address cannot be read in transit: https, or this machine. */
function isSafe(address: string): boolean {
  const { protocol, hostname } = new URL(address)
  return protocol === 'https:' || isLoopback(hostname)
}
