import { readFile } from 'node:fs/promises'
import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { LOGIN_SECRET, PLATFORM_NAMESPACE } from '../records/names.ts'
import { type ClaimRule, isOrganisation, type ProviderSettings, toClaimRule } from '../rules/accounts/provider.ts'

/** Options of the operator about login providers; a missing option keeps the installed value. */
export interface ProviderInput {
  /** URL of the issuer; `-` removes the provider. */
  readonly oidc?: string | undefined
  readonly oidcName?: string | undefined
  readonly oidcClientId?: string | undefined
  /**
   * Path of the file with the client secret. The secret is not an option itself, because other users of the machine can
   * read command-line arguments.
   */
  readonly oidcClientSecretFile?: string | undefined
  /** Rules such as `claim=value`. */
  readonly oidcAllow?: readonly string[] | undefined
  /** URL of the GitHub server; true for github.com. */
  readonly github?: string | true | undefined
  readonly githubClientId?: string | undefined
  readonly githubClientSecretFile?: string | undefined
  readonly githubAllow?: readonly string[] | undefined
}

/** The wanted login providers, and their new client secrets by provider id. */
export interface WantedProviders {
  readonly providers: readonly ProviderSettings[]
  readonly secrets: Readonly<Record<string, string>>
  /** Ids whose stored client secrets belong to another server or client, which had this id before. */
  readonly changed: readonly string[]
}

/**
 * Returns the installed providers with the changes that the operator's options make. Throws a UsageError for a missing
 * or invalid option.
 */
export async function wantedProviders(
  input: ProviderInput,
  installed: readonly ProviderSettings[],
): Promise<WantedProviders> {
  const before = (kind: ProviderSettings['kind']) => installed.filter(one => one.kind === kind)
  const { oidc, github } = input
  checkAlone(input)
  const wantsOidc = oidc === undefined ? before('oidc') : oidc === '-' ? [] : [toOidc(oidc, input, installed)]
  const wantsGitHub =
    github === undefined ? before('github') : github === '-' ? [] : [toGitHub(github, input, installed)]
  const secrets: Record<string, string> = {}
  for (const [id, option, file] of [
    ['oidc', '--oidc-client-secret-file', input.oidcClientSecretFile],
    ['github', '--github-client-secret-file', input.githubClientSecretFile],
  ] as const)
    if (file !== undefined) secrets[id] = await readSecret(option, file)
  const providers = [...wantsOidc, ...wantsGitHub]
  for (const one of providers) requireRules(one, installed)
  return { providers, secrets, changed: providers.filter(one => isChanged(one, installed)).map(({ id }) => id) }
}

/**
 * Throws a UsageError if a provider without rules would replace an installed provider that has rules, because the new
 * provider would let everybody log in.
 */
function requireRules({ id, allow }: ProviderSettings, installed: readonly ProviderSettings[]): void {
  const before = installed.find(one => one.id === id)
  if (allow.length > 0 || before === undefined || before.allow.length === 0) return
  throw new UsageError(`the new provider \`${id}\` has no rules about who may log in, and the installed one has`, {
    hint: `add \`--${id}-allow\`, or remove the installed provider first, with \`--${id} -\``,
  })
}

const isChanged = (one: ProviderSettings, installed: readonly ProviderSettings[]): boolean =>
  installed.some(
    before => before.id === one.id && (before.clientId !== one.clientId || serverOf(before) !== serverOf(one)),
  )

/** Returns the URL of a provider without a trailing slash, so that two spellings of the same URL are equal. */
const serverOf = (one: ProviderSettings): string => plain(one.kind === 'oidc' ? one.issuer : one.url)

const plain = (url: string): string => url.replace(/\/$/, '')

const SECRET = { apiVersion: 'v1', kind: 'Secret', name: LOGIN_SECRET, namespace: PLATFORM_NAMESPACE }

/** Returns the ids of the providers whose client secrets are stored. */
const providersIn = (live: KubeObject | undefined): readonly string[] =>
  Object.keys((live?.['data'] as object | undefined) ?? {})

/**
 * Throws a UsageError if a provider has no client secret, neither in the options nor in the cluster. A stored secret of
 * another server or client does not count: it would be sent to the wrong server. Changes nothing.
 */
export async function requireClientSecrets(
  cluster: Cluster,
  { providers, secrets, changed }: WantedProviders,
  signal: AbortSignal,
): Promise<void> {
  const live = await cluster.get(SECRET, { signal })
  const known = new Set([...Object.keys(secrets), ...providersIn(live).filter(id => !changed.includes(id))])
  for (const { id } of providers)
    if (!known.has(id))
      throw new UsageError(`the provider \`${id}\` has no client secret yet`, {
        hint: `add \`--${id}-client-secret-file FILE\``,
      })
}

/** Adds new client secrets to the existing ones, and deletes the secrets of providers that are no longer wanted. */
export async function keepClientSecrets(
  cluster: Cluster,
  { providers, secrets }: WantedProviders,
  signal: AbortSignal,
): Promise<void> {
  const live = await cluster.get(SECRET, { signal })
  const wanted = new Set<string>(providers.map(({ id }) => id))
  const unwanted = providersIn(live).filter(id => !wanted.has(id))
  const data = Object.fromEntries([
    ...unwanted.map(id => [id, null]),
    ...Object.entries(secrets).map(([id, text]) => [id, toBase64(text)]),
  ])
  if (Object.keys(data).length === 0) return
  if (live) await cluster.patch(SECRET, { data }, { manager: 'devctl', signal })
  else {
    const { apiVersion, kind, name, namespace } = SECRET
    await cluster.create({ apiVersion, kind, metadata: { name, namespace }, data }, { signal })
  }
}

const toBase64 = (text: string): string => Buffer.from(text).toString('base64')

/** Throws a UsageError for options about a login provider if neither `--oidc` nor `--github` names that provider. */
function checkAlone(input: ProviderInput): void {
  const { oidc, oidcName, oidcClientId, oidcAllow, github, githubClientId, githubAllow } = input
  if (oidc === undefined && (oidcName ?? oidcClientId ?? oidcAllow) !== undefined)
    throw new UsageError('which OpenID Connect provider?', { hint: 'add `--oidc ISSUER`' })
  if (github === undefined && (githubClientId ?? githubAllow) !== undefined)
    throw new UsageError('`--github-…` needs `--github`')
}

/**
 * Returns the settings of the OIDC provider. If the same issuer is installed, options that are not repeated keep their
 * values, most importantly the rules for who may log in.
 */
function toOidc(
  issuer: string,
  { oidcName, oidcClientId, oidcAllow }: ProviderInput,
  installed: readonly ProviderSettings[],
): ProviderSettings {
  const url = address('--oidc', issuer)
  const before = installed.find(one => one.kind === 'oidc' && plain(one.issuer) === plain(issuer)) as
    | Of<'oidc'>
    | undefined
  return {
    kind: 'oidc',
    id: 'oidc',
    name: oidcName ?? before?.name ?? url.host,
    // Not normalized, because it is compared with the `iss` claim of tokens character by character.
    issuer,
    clientId: clientIdOf('oidc', oidcClientId ?? before?.clientId),
    allow: oidcAllow?.map(toRule) ?? before?.allow ?? [],
  }
}

type Of<K extends ProviderSettings['kind']> = Extract<ProviderSettings, { readonly kind: K }>

function toRule(text: string): ClaimRule {
  const rule = toClaimRule(text)
  if (rule) return rule
  throw new UsageError(`\`--oidc-allow\` is \`${text}\``, {
    hint: 'write `CLAIM=VALUE`, such as `groups=backend`; e-mail addresses prove nothing',
  })
}

function toGitHub(
  where: string | true,
  { githubClientId, githubAllow }: ProviderInput,
  installed: readonly ProviderSettings[],
): ProviderSettings {
  const url = where === true ? new URL('https://github.com') : address('--github', where)
  for (const one of githubAllow ?? [])
    if (!isOrganisation(one))
      throw new UsageError(`\`--github-allow\` is \`${one}\``, { hint: 'write `ORGANISATION` or `ORGANISATION/TEAM`' })
  const before = installed.find(one => one.kind === 'github' && one.url === url.origin) as Of<'github'> | undefined
  return {
    kind: 'github',
    id: 'github',
    name: where === true ? 'GitHub' : url.host,
    url: url.origin,
    clientId: clientIdOf('github', githubClientId ?? before?.clientId),
    allow: githubAllow ?? before?.allow ?? [],
  }
}

function address(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isLocal = url?.protocol === 'http:' && /^(localhost|127\.\d+\.\d+\.\d+)$/.test(url.hostname)
  if (url && (url.protocol === 'https:' || isLocal) && !url.username && !url.search && !url.hash) return url
  throw new UsageError(`\`${option}\` is \`${text}\``, { hint: 'write an address like `https://git.example.com`' })
}

function clientIdOf(id: string, text: string | undefined): string {
  if (text !== undefined) return text
  throw new UsageError(`which client is the platform at \`${id}\`?`, {
    hint: `add \`--${id}-client-id ID\`, which the provider shows when the platform is registered there`,
  })
}

async function readSecret(option: string, file: string): Promise<string> {
  const text = (
    await readFile(file, 'utf8').catch(error => {
      throw new UsageError(`\`${option}\`: \`${file}\` cannot be read`, { cause: error })
    })
  ).trim()
  if (text === '' || text.includes('\n'))
    throw new UsageError(`\`${option}\`: \`${file}\` does not contain a secret on one line`, {
      hint: 'write only the client secret into it',
    })
  return text
}
