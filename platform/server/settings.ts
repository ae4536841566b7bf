import { isIP } from 'node:net'
import { CI_KINDS, type CiTrust, isCiRule } from '../rules/accounts/ci-trust.ts'
import { isOrganisation, type ProviderSettings } from '../rules/accounts/provider.ts'
import { type ForgeServer, isForgeServer } from '../rules/forge-servers.ts'
import { toNetwork } from '../rules/networks.ts'
import { limitProblem } from '../rules/quota.ts'
import { IDLENESS, type Idleness } from '../rules/runs/idleness.ts'
import { readBuilders } from './builds/builder-settings.ts'
import type { RunSettings, Settings } from './context.ts'

const HOUR = 3_600_000

/** Default maximum number of namespaces and of previews that a developer may own. */
const MOST = { namespacesPerUser: 5, previewsPerUser: 50 }

/**
 * Parses the settings from JSON. Throws an Error that names the problem: the server does not start with partially valid
 * settings.
 */
export function readSettings(text: string): Settings {
  const found = parse(text)
  const textOf = (key: string, value: unknown = found[key]) => {
    if (typeof value !== 'string' || value === '') throw new Error(`settings: \`${key}\` is not text`)
    return value
  }
  const kubernetes = (found['kubernetes'] ?? {}) as Readonly<Record<string, unknown>>
  const most = (key: keyof typeof MOST) => {
    const number = found[key] ?? MOST[key]
    if (typeof number !== 'number' || !Number.isInteger(number) || number < 0)
      throw new Error(`settings: \`${key}\` is not a number of ${key.startsWith('n') ? 'namespaces' : 'previews'}`)
    return number
  }
  /**
   * Parses a setting such as `{ "namespace": 3, "preview": 1 }`, whose values are hours, to milliseconds; 0 means
   * never. Absent values are taken from `otherwise`. Throws an Error for an invalid value.
   */
  const hours = (key: string, otherwise: Idleness['sleep']) => {
    const value = found[key] === undefined ? {} : found[key]
    // The default of a misunderstood value could delete namespaces that should stay.
    if (!isMap(value))
      throw new Error(`settings: \`${key}\` is not a map of hours: \`{ "namespace": 3, "preview": 1 }\``)
    const of = (kind: 'namespace' | 'preview') => {
      const { [kind]: one = otherwise[kind] / HOUR } = value
      if (typeof one !== 'number' || !(one >= 0))
        throw new Error(`settings: \`${key}.${kind}\` is not a number of hours`)
      return one * HOUR
    }
    return { namespace: of('namespace'), preview: of('preview') }
  }
  const ca = kubernetes['ca']
  return {
    domain: textOf('domain'),
    url: textOf('url'),
    kubernetes: {
      server: textOf('kubernetes.server', kubernetes['server']),
      ...(ca !== undefined && { ca: textOf('kubernetes.ca', ca) }),
    },
    namespacesPerUser: most('namespacesPerUser'),
    previewsPerUser: most('previewsPerUser'),
    providers: readProviders(found['providers'] ?? []),
    clusterNetworks: readNetworks('clusterNetworks', found),
    privateNetworks: readNetworks('privateNetworks', found),
    ...(found['quota'] !== undefined && { quota: readQuota(found['quota']) }),
    ci: readCi(found['ci'] ?? []),
    forges: readForges(found['forges'] ?? []),
    trustedProxies: readProxies(found['trustedProxies'] ?? []),
    idleness: { sleep: hours('sleepHours', IDLENESS.sleep), delete: hours('deleteHours', IDLENESS.delete) },
    ...(found['builders'] !== undefined && { builders: readBuilders(found['builders']) }),
    ...(found['registry'] !== undefined && { registry: readRegistry(textOf('registry')) }),
    ...(found['registryShare'] !== undefined && { registryShare: readShare(found['registryShare']) }),
    ...(readFlag('registryTokens', found['registryTokens']) && { registryTokens: true }),
    ...(found['runs'] !== undefined && { runs: toRuns(found['runs']) }),
  }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch (error) {
    throw new Error(
      `settings: \`settings.json\` is not valid JSON: ${(error as Error).message.replaceAll(/\s+/g, ' ')}`,
      { cause: error },
    )
  }
  if (!isMap(found)) throw new Error('settings: `settings.json` is not an object')
  return found
}

const isMap = (found: unknown): found is Readonly<Record<string, unknown>> =>
  typeof found === 'object' && found !== null && !Array.isArray(found)

function readFlag(key: string, found: unknown = false): boolean {
  if (typeof found === 'boolean') return found
  throw new Error(`settings: \`${key}\` is not \`true\` or \`false\``)
}

function readRegistry(text: string): string {
  if (/^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._-]+)*$/.test(text)) return text
  throw new Error('settings: `registry` is not a registry: `registry.example.com/team`')
}

function readShare(found: unknown): number {
  if (typeof found === 'number' && found > 0 && found <= 1) return found
  throw new Error('settings: `registryShare` is not a share of the disk: `0.2` is a fifth, `1` is all of it')
}

function readNetworks(
  key: 'clusterNetworks' | 'privateNetworks',
  { [key]: found = [] }: Readonly<Record<string, unknown>>,
): readonly string[] {
  const isNetwork = (one: unknown) => typeof one === 'string' && one.includes('/') && toNetwork(one).length > 0
  for (const [at, one] of listOf(key, found).entries())
    if (!isNetwork(one)) throw new Error(`settings: \`${key}[${at}]\` is not an IPv4 network: \`10.42.0.0/16\``)
  return found as readonly string[] // looked at
}

/**
 * Parses the quota. It is validated strictly, because a value that the API server refuses would prevent the creation of
 * all namespaces.
 */
function readQuota(found: unknown): Readonly<Record<string, string>> {
  if (!isMap(found))
    throw new Error('settings: `quota` is not a map of limits: `{ "count/certificates.cert-manager.io": "50" }`')
  for (const [name, most] of Object.entries(found)) {
    const problem = limitProblem(name, most)
    if (problem) throw new Error(`settings: \`quota\`: \`${name}\` ${problem}`)
  }
  return found as Readonly<Record<string, string>> // looked at
}

/** Error message for an invalid rule. */
const CI_RULE =
  'is not a rule: it needs `repository` or `owner` (numbers, as text) and a `prefix` that ends with `-`, and may have `ref` and `event`'

/** Parses the CI settings. Throws an Error if they are incomplete. */
function readCi(found: unknown): readonly CiTrust[] {
  for (const [at, one] of listOf('ci', found).entries()) {
    const { kind, issuer, rules } = (one ?? {}) as Readonly<Record<string, unknown>>
    const of = `settings: \`ci[${at}]`
    if (!CI_KINDS.some(known => known === kind))
      throw new Error(`${of}.kind\` is none of ${CI_KINDS.map(known => `\`${known}\``).join(', ')}`)
    if (typeof issuer !== 'string' || !URL.canParse(issuer)) throw new Error(`${of}.issuer\` is not a URL`)
    if (!Array.isArray(rules)) throw new Error(`${of}.rules\` is not a list`)
    const wrong = rules.findIndex(rule => !isCiRule(rule))
    if (wrong >= 0) throw new Error(`${of}.rules[${wrong}]\` ${CI_RULE}`)
  }
  return found as readonly CiTrust[] // looked at
}

function readForges(found: unknown): readonly ForgeServer[] {
  for (const [at, one] of listOf('forges', found).entries())
    if (!isForgeServer(one))
      throw new Error(
        `settings: \`forges[${at}]\` is not a server: \`{ "kind": "gitea", "url": "https://git.example.com" }\`, perhaps with \`api\``,
      )
  return found as readonly ForgeServer[] // looked at
}

function readProxies(found: unknown): readonly string[] {
  const isNetwork = (one: unknown) => {
    const [address = '', bits, ...more] = typeof one === 'string' ? one.split('/') : []
    const most = isIP(address) === 6 ? 128 : 32
    return (
      isIP(address) > 0 && more.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most))
    )
  }
  if (Array.isArray(found) && found.every(isNetwork)) return found
  throw new Error('settings: `trustedProxies` is not a list of addresses and networks')
}

/**
 * Parses the identity providers. Throws an Error if one is incomplete, because an incomplete rule must not admit any
 * user.
 */
function readProviders(found: unknown): readonly ProviderSettings[] {
  const all = listOf('providers', found).map((one, at) => {
    if (isProvider(one)) return one
    const { kind } = (one ?? {}) as { readonly kind?: unknown }
    const rest = kind === 'github' ? '`url` and `allow`, a list of `ORGANISATION` or `ORGANISATION/TEAM`' : OIDC
    throw new Error(
      `settings: \`providers[${at}]\` is incomplete: it needs \`kind\` (\`oidc\` or \`github\`), \`id\` (lower-case letters, digits and \`-\`), \`name\`, \`clientId\`, ${rest}`,
    )
  })
  const ids = all.map(({ id }) => id)
  if (new Set(ids).size < ids.length) throw new Error('settings: two `providers` have the same `id`')
  return all
}

const OIDC = '`issuer` and `allow`, a list of `{ "claim", "value" }`'

function listOf(key: string, found: unknown): readonly unknown[] {
  if (Array.isArray(found)) return found
  throw new Error(`settings: \`${key}\` is not a list`)
}

function isProvider(one: unknown): one is ProviderSettings {
  const { kind, id, name, clientId, issuer, url, allow } = (one ?? {}) as Readonly<Record<string, unknown>>
  const isText = (value: unknown) => typeof value === 'string' && value !== ''
  const isAddress = (value: unknown) => typeof value === 'string' && URL.canParse(value)
  if (typeof id !== 'string' || !/^[a-z0-9-]{1,40}$/.test(id) || !isText(name) || !isText(clientId)) return false
  if (!Array.isArray(allow)) return false
  if (kind === 'github') return isAddress(url) && allow.every(rule => typeof rule === 'string' && isOrganisation(rule))
  return kind === 'oidc' && isAddress(issuer) && allow.every(rule => isText(rule?.claim) && isText(rule?.value))
}

/**
 * Defaults of the settings of runs: maximum number of concurrent runs of one user and in total, and maximum duration of
 * a run in seconds.
 */
const RUNS = { perUser: 3, inAll: 10, deadline: 3600 }

function toRuns(value: unknown): RunSettings {
  const { image, url, authorities, ...numbers } = (value ?? {}) as Readonly<Record<string, unknown>>
  if (typeof image !== 'string' || typeof url !== 'string') throw new Error('settings: `runs` has no image or no URL')
  const numberOf = (key: keyof typeof RUNS) => {
    const number = numbers[key] ?? RUNS[key]
    if (typeof number !== 'number' || !Number.isInteger(number) || number < 1)
      throw new Error(`settings: \`runs.${key}\` is not a number above 0`)
    return number
  }
  const limits = { perUser: numberOf('perUser'), inAll: numberOf('inAll'), deadline: numberOf('deadline') }
  return { image, url, ...limits, ...(readFlag('runs.authorities', authorities) && { hasAuthorities: true }) }
}
