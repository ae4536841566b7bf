import { FORGE_NAMES, type ForgeKind } from './forge.ts'
import type { Env, Site } from './site.ts'

/** A token and the variable it comes from; or why there is none, in words. */
export type Found =
  | { readonly variable: string; readonly token: string }
  | { readonly token?: undefined; readonly reason: string }

/** Works with each of them, and with every host. */
const ANY = 'DEVCTL_FORGE_TOKEN'
const NAMES: Readonly<Record<ForgeKind, readonly string[]>> = {
  github: ['GITHUB_TOKEN', 'GH_TOKEN'],
  gitlab: ['GITLAB_TOKEN'],
  gitea: ['GITEA_TOKEN', 'FORGEJO_TOKEN'],
}
/** As the command line of GitHub has it: those of github.com are not sent to other servers. */
const ENTERPRISE = ['GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN']

/**
 * The token for a forge, from the environment only. One that belongs to another server is left alone: the token of a job is that of the
 * forge the job runs on.
 */
export function tokenFor(site: Site, env: Env): Found {
  if (!isSafe(site.api)) return { reason: `a token is not sent to \`${site.api}\`: it is not https` }
  const names = [ANY, ...namesFor(site, env)]
  for (const variable of names) {
    const token = env[variable]?.trim()
    if (!token) continue
    // It would end up in a header.
    if (/[^\x21-\x7e]/.test(token))
      return { reason: `\`${variable}\` holds no token: there are blanks or other characters in it` }
    return { variable, token }
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

/** Whether nobody on the way can read what is sent: https, or this machine. */
function isSafe(address: string): boolean {
  const { protocol, hostname } = new URL(address)
  return (
    protocol === 'https:' || hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
  )
}
