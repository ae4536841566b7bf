import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { parseJson } from '../json/parse-json.ts'
import { runProgram } from '../process/run-program.ts'
import type { DockerConfig } from './docker.schema.ts'
import { dockerConfig, helperAnswer } from './docker.validators.ts'
import { HUB_KEY, hostOf } from './registry.ts'

/** The login of a user at a registry. All fields are secret. */
export interface RegistryLogin {
  readonly username: string
  readonly password: string
}

/**
 * Credentials for a registry in the Docker configuration: none, a login, or an identity token, which is not a password
 * but is exchanged for tokens at the registry's token service. Kubernetes does not support identity tokens.
 */
export type RegistryCredentials =
  | { readonly kind: 'none' }
  | ({ readonly kind: 'login' } & RegistryLogin)
  | { readonly kind: 'token'; readonly identityToken: string }

export interface DockerConfigOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

/**
 * Timeout for a credential helper in milliseconds; the helper may have to prompt the user, for example to unlock a
 * keychain.
 */
const HELPER_TIMEOUT = 60_000

/**
 * Returns the credentials for each of the registries from the user's Docker configuration, `config.json` in
 * DOCKER_CONFIG or in `~/.docker`. The registries are hosts as returned by `registryOf`. As Docker does, asks the
 * registry's credential helper, else the credential store, then reads the file itself
 * (https://docs.docker.com/reference/cli/docker/login/#credential-stores). Throws a UserError if a file cannot be read
 * or a helper fails; errors contain no secrets.
 */
export async function readRegistryCredentials(
  registries: readonly string[],
  options: DockerConfigOptions,
): Promise<ReadonlyMap<string, RegistryCredentials>> {
  const config = await readConfig(options.env)
  const found = await Promise.all(
    registries.map(async registry => [registry, await credentialsOf(config, registry, options)] as const),
  )
  return new Map(found)
}

async function readConfig(env: DockerConfigOptions['env']): Promise<DockerConfig> {
  const path = join(env.DOCKER_CONFIG || join(env.HOME || homedir(), '.docker'), 'config.json')
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // node throws nothing else
    if (code === 'ENOENT' || code === 'ENOTDIR') return {}
    throw new UserError(`the Docker configuration \`${path}\` cannot be read (${code})`)
  }
  // Docker accepts an empty file, too.
  if (text.trim() === '') return {}
  const config = parseJson(text, dockerConfig)
  if (config.ok) return config.value
  throw new UserError(`the Docker configuration \`${path}\` cannot be read: ${config.problem}`, {
    hint: '`docker login` writes it; DOCKER_CONFIG names another folder',
  })
}

async function credentialsOf(
  config: DockerConfig,
  registry: string,
  options: DockerConfigOptions,
): Promise<RegistryCredentials> {
  const own = Object.entries(config.credHelpers ?? {}).find(([key]) => hostOf(key) === registry)
  const helper = own?.[1] || config.credsStore
  if (helper) {
    const given = await askHelper(helper, own?.[0] ?? keyIn(config, registry), options)
    if (given.kind !== 'none') return given
  }
  return fromFile(config, registry)
}

/**
 * Returns the key under which a credential store has the login for a registry: the name that the user logged in with,
 * else the registry's usual name.
 */
function keyIn({ auths = {} }: DockerConfig, registry: string): string {
  const key = Object.keys(auths).find(key => hostOf(key) === registry)
  return key ?? (registry === 'docker.io' ? HUB_KEY : registry)
}

function fromFile({ auths = {} }: DockerConfig, registry: string): RegistryCredentials {
  for (const [key, entry] of Object.entries(auths)) {
    if (hostOf(key) !== registry || !entry) continue
    if (entry.identitytoken) return { kind: 'token', identityToken: entry.identitytoken }
    const text = entry.auth ? Buffer.from(entry.auth, 'base64').toString('utf8').replace(/\0+$/, '') : ''
    const colon = text.indexOf(':')
    // Docker and the kubelet prefer `auth`.
    if (colon > 0) return { kind: 'login', username: text.slice(0, colon), password: text.slice(colon + 1) }
    if (entry.username && entry.password) return { kind: 'login', username: entry.username, password: entry.password }
  }
  return { kind: 'none' }
}

/**
 * Runs `docker-credential-NAME get`:
 * https://github.com/docker/docker-credential-helpers#development
 */
async function askHelper(
  name: string,
  server: string,
  { env, signal }: DockerConfigOptions,
): Promise<RegistryCredentials> {
  const program = `docker-credential-${name}`
  const limit = AbortSignal.timeout(HELPER_TIMEOUT)
  const refuse = (why: string, hint?: string) =>
    new UserError(`the credential helper \`${program}\` ${why}`, {
      notes: [`it was asked for the credentials of \`${server}\``],
      ...(hint !== undefined && { hint }),
    })
  // The name becomes part of a program name.
  if (!/^[\w.-]+$/.test(name)) throw refuse('has a name that is not valid')
  const ended = await runProgram(program, ['get'], {
    env,
    signal: AbortSignal.any([signal, limit]),
    input: { text: `${server}\n` },
    showsErrors: true,
  })
  signal.throwIfAborted()
  if (limit.aborted) throw refuse(`does not answer within ${HELPER_TIMEOUT / 1000} s`)
  if (ended.failure?.code === 'ENOENT')
    throw refuse('is not installed', 'install it, or remove it from the Docker configuration')
  if (ended.failure) throw refuse(`could not be started (${ended.failure.code})`)
  const { status, stdout: text } = ended
  // Messages of helpers that have no credentials for the server.
  if (status !== 0 && /credentials not found|no credentials|not found in native keychain/i.test(text))
    return { kind: 'none' }
  if (status !== 0) throw refuse(`failed (${ended.signal ?? status})`, `try \`echo ${server} | ${program} get\``)
  const answer = parseJson(text, helperAnswer)
  if (!answer.ok) throw refuse(`did not print credentials: ${answer.problem}`)
  const { Username: username, Secret: password } = answer.value
  if (password === '') return { kind: 'none' }
  return username === '<token>' ? { kind: 'token', identityToken: password } : { kind: 'login', username, password }
}
