import type { CiTrust } from './accounts/ci-trust.ts'
import { type ProviderSettings, shownText } from './accounts/provider.ts'
import type { HookForge } from './previews/webhook-signature.ts'
import type { HealthProblem } from './runs/health.ts'

/** The uses of a server: logins of people (`oidc`, `github`), logins of CI jobs, or webhooks and their repositories. */
export const DEPENDENCY_KINDS = ['oidc', 'github', 'ci', 'forge'] as const

/** Server outside the platform that the platform needs. */
export interface NeededServer {
  readonly kind: (typeof DEPENDENCY_KINDS)[number]
  /** Name that administrators know: the provider's name, or the host. */
  readonly name: string
  /** URL of the issuer, or of the server's home page, as in the settings. */
  readonly address: string
  /** Kind of the forge or of the CI system; absent for an identity provider. */
  readonly forge?: HookForge
  /** Base URL of the forge's API, if it differs from the default. */
  readonly api?: string
}

/** The reason why the server of the platform cannot use another server. */
export type ReachFailure =
  | { readonly kind: (typeof PLAIN_FAILURES)[number] }
  | { readonly kind: (typeof DETAILED_FAILURES)[number]; readonly detail: string }
  | { readonly kind: 'timeout'; readonly seconds: number }
  | { readonly kind: 'status'; readonly url: string; readonly status: number }
  | { readonly kind: 'no-document'; readonly url: string }
  /** `found` is the issuer that the discovery document names. */
  | { readonly kind: 'issuer'; readonly found: string }

export const PLAIN_FAILURES = [
  'name',
  'refused',
  'no-route',
  'cut',
  'not-tls',
  'expired',
  'wrong-host',
  'client-certificate',
] as const
export const DETAILED_FAILURES = ['untrusted', 'proxy', 'other'] as const

/** The result of one check. */
export interface CheckedDependency extends NeededServer {
  /** Reason why the server cannot be used; absent if the server can be used. */
  readonly failure?: ReachFailure
}

/** The results of the last checks, which the leader made. */
export interface DependencyChecks {
  /** Time of the checks (RFC 3339). */
  readonly checked: string
  /** Hash of the settings of the server that made the checks. */
  readonly settings?: string
  readonly all: readonly CheckedDependency[]
}

export interface DependencyState extends CheckedDependency {
  readonly state: 'reached' | 'failed' | 'unknown'
  /** Time of the check (RFC 3339); absent if `state` is `unknown`. */
  readonly checked?: string
}

/** The settings that name other servers. */
export interface DependingSettings {
  readonly providers: readonly ProviderSettings[]
  readonly ci: readonly CiTrust[]
  readonly forges: readonly ForgeDependency[]
}

export interface ForgeDependency {
  readonly kind?: HookForge
  readonly url: string
  readonly api?: string
}

/**
 * Returns the servers that the settings name. A server with several uses is returned once for each use. Forges of
 * unknown kind are omitted.
 */
export function dependenciesOf({ providers, ci, forges }: DependingSettings): readonly NeededServer[] {
  const all = [
    ...providers.map(
      (one): NeededServer => ({
        kind: one.kind,
        name: one.name,
        address: one.kind === 'github' ? one.url : one.issuer,
      }),
    ),
    ...ci.map((one): NeededServer => ({ kind: 'ci', name: hostOf(one.issuer), address: one.issuer, forge: one.kind })),
    ...forges.flatMap(({ kind, url, api }): readonly NeededServer[] =>
      kind === undefined
        ? []
        : [{ kind: 'forge', name: hostOf(url), address: url, forge: kind, ...(api !== undefined && { api }) }],
    ),
  ]
  return all.filter((one, at) => all.findIndex(other => keyOf(other) === keyOf(one)) === at)
}

/** Milliseconds until the result of a check is out of date. */
const FRESH = 900_000

/**
 * Returns the states of the servers that the settings name (`wanted`), and of the forges that were checked because of a
 * webhook. A server without a recent check has the state `unknown`.
 */
export function dependencyStates(
  wanted: readonly NeededServer[],
  checks: DependencyChecks | undefined,
  now: number,
): readonly DependencyState[] {
  const fresh = checks && Math.abs(now - Date.parse(checks.checked)) <= FRESH ? checks : undefined
  const found = new Map((fresh?.all ?? []).map(one => [keyOf(one), one]))
  const named = new Set(wanted.map(keyOf))
  const more = [...found.values()].filter(one => one.kind === 'forge' && !named.has(keyOf(one)))
  return [...wanted, ...more].map((one): DependencyState => {
    const known = found.get(keyOf(one))
    if (!known || !fresh) return { ...one, state: 'unknown' }
    const { failure } = known
    return { ...one, state: failure ? 'failed' : 'reached', checked: fresh.checked, ...(failure && { failure }) }
  })
}

const keyOf = ({ kind, address, api = '' }: NeededServer): string => `${kind} ${address} ${api}`

/**
 * Returns the problems of servers that cannot be used. If several uses of one server fail for the same reason, they are
 * one problem.
 */
export function dependencyProblems(all: readonly DependencyState[]): readonly HealthProblem[] {
  const failed = all.flatMap(one => (one.failure ? [{ one, failure: one.failure }] : []))
  const causes = failed.map(({ one, failure }) => causeText(one, failure))
  return failed.flatMap(({ one, failure }, at) => {
    const cause = causes[at] ?? ''
    if (causes.indexOf(cause) !== at) return []
    const effects = failed.filter((_, other) => causes[other] === cause).map(({ one }) => effectText(one))
    return [{ message: `${[...new Set(effects)].join(', and ')}: ${cause}`, hint: hintText(one, failure) }]
  })
}

function effectText({ kind, name }: NeededServer): string {
  switch (kind) {
    case 'oidc':
    case 'github':
      return `people cannot log in with \`${name}\``
    case 'ci':
      return `CI jobs of \`${name}\` cannot log in`
    case 'forge':
      return `webhooks of \`${name}\` do not work`
  }
}

function causeText({ address, api = address }: NeededServer, failure: ReachFailure): string {
  const { hostname, host, origin } = new URL(api)
  switch (failure.kind) {
    case 'name':
      return `the name \`${hostname}\` does not resolve in the cluster`
    case 'refused':
      return `nothing listens at \`${origin}\`, seen from the server`
    case 'no-route':
      return `there is no route from the server to \`${origin}\``
    case 'timeout':
      return `\`${origin}\` does not answer the server within ${failure.seconds} s`
    case 'cut':
      return `\`${origin}\` closes the connection of the server`
    case 'not-tls':
      return `\`${host}\` does not speak TLS`
    case 'untrusted':
      return `the server does not trust the certificate of \`${host}\`: ${failure.detail}`
    case 'expired':
      return `the certificate of \`${host}\` has expired`
    case 'wrong-host':
      return `the certificate of \`${host}\` is for other hosts`
    case 'client-certificate':
      return `\`${host}\` requires a client certificate, and the server has none`
    case 'proxy':
      return `the server does not reach \`${origin}\`: ${failure.detail}`
    case 'other':
      return `the connection of the server to \`${origin}\` failed: ${failure.detail}`
    case 'status':
      return `\`${failure.url}\` answers with status ${failure.status}`
    case 'no-document':
      return `\`${failure.url}\` is not the discovery document of a provider`
    case 'issuer':
      return `the provider at \`${address}\` calls itself \`${shownText(failure.found, 200) ?? ''}\``
  }
}

function hintText(one: NeededServer, failure: ReachFailure): string {
  const option = `\`devctl platform install ${optionOf(one)}\``
  switch (failure.kind) {
    case 'name':
      return `add the name to the DNS that the cluster uses, or correct the address: ${option}`
    case 'refused':
    case 'no-route':
    case 'timeout':
    case 'cut':
    case 'other':
      return `check that it is running, and that firewalls and network policies let Pods of \`devctl-platform\` connect to it; to correct the address, run ${option}`
    case 'not-tls':
      return `to use an address that speaks TLS, run ${option}`
    case 'untrusted':
      return 'to trust the authority that issued it, run `devctl platform install --ca FILE`; the file has the certificates (PEM) of all private authorities'
    case 'expired':
      return 'renew the certificate there'
    case 'wrong-host':
      return `to use a name that the certificate is for, run ${option}`
    case 'client-certificate':
      return 'make it accept connections from Pods of `devctl-platform` without one'
    case 'proxy':
      return 'check `HTTPS_PROXY` and `NO_PROXY` of the Deployment `platform` in `devctl-platform`'
    case 'status':
      if (failure.status >= 500) return 'the log of that server says why'
      return one.kind === 'forge'
        ? `to correct the address of its API, run \`devctl platform install … --forge ${one.forge ?? 'KIND'}=${one.address},api=URL\``
        : `to correct the address, run ${option}`
    case 'no-document':
      return `to correct the address, run ${option}`
    case 'issuer': {
      const isAddress = /^https?:\/\/[\w.:~%/-]{1,200}$/.test(failure.found)
      return `if it is the right provider, name it as it does itself: \`devctl platform install ${optionOf(one, isAddress ? failure.found : undefined)}\``
    }
  }
}

/** Returns the option of `platform install` that sets the server, with the given address or a placeholder for it. */
function optionOf({ kind, forge }: NeededServer, address?: string): string {
  const of = forge ?? 'KIND'
  switch (kind) {
    case 'oidc':
      return `--oidc ${address ?? 'ISSUER'} --oidc-client-id ID`
    case 'github':
      return `--github ${address ?? 'URL'} --github-client-id ID`
    // Each of these options replaces all servers of its kind, so `…` stands for the others.
    case 'ci':
      return `… --ci ${of}=${address ?? 'ISSUER'},RULE`
    case 'forge':
      return `… --forge ${of}=${address ?? 'URL'}`
  }
}

const hostOf = (url: string): string => new URL(url).host
