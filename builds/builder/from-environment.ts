import type { ImageInput } from '../../adapters/buildkit/builder.ts'
import type { BuildCache } from '../../compiler/values/images/build-cache.ts'

type Env = Readonly<Record<string, string | undefined>>

/**
 * Adds the settings that Docker's clients read from variables: the SSH agent, and the logins of caches. Values set in
 * the file take precedence.
 */
export function fromEnvironment(input: ImageInput, env: Env): ImageInput {
  return {
    ...input,
    ssh: new Map([...sshOf(input, env)].map(([id, paths]) => [id, agentPaths(paths, env)])),
    cacheFrom: caches(input.cacheFrom, env),
    cacheTo: caches(input.cacheTo, env),
  }
}

/** URL of a repository that is fetched over SSH: with a scheme, or as `git@host:path`. */
const OVER_SSH = /^(?:ssh:\/\/|[\w.-]+@[\w.-]+:)/

/**
 * Returns the SSH settings. A context that is fetched over SSH uses the agent even if the file does not ask for it, as
 * with buildx.
 */
function sshOf({ ssh, context, contexts }: ImageInput, env: Env): ImageInput['ssh'] {
  const isFetched = [context, ...contexts.values()].some(source => 'remote' in source && OVER_SSH.test(source.remote))
  return isFetched && !ssh.has('default') && agentOf(env).length > 0 ? new Map([...ssh, ['default', []]]) : ssh
}

/** Named pipe on which OpenSSH's agent for Windows listens. */
const WINDOWS_AGENT = '\\\\.\\pipe\\openssh-ssh-agent'

/**
 * Returns the keys and sockets of an `ssh` entry. If the entry has none, returns the socket of the user's agent, if
 * there is one.
 */
export const agentPaths = (paths: readonly string[], env: Env): readonly string[] =>
  paths.length > 0 ? paths : agentOf(env)

function agentOf({ SSH_AUTH_SOCK: socket }: Env): readonly string[] {
  if (socket) return [socket]
  return process.platform === 'win32' ? [WINDOWS_AGENT] : []
}

/**
 * Returns the caches with their logins. Omits the GitHub Actions cache if it has no login, because the same file is
 * also built outside of GitHub Actions.
 */
const caches = (entries: readonly BuildCache[], env: Env): readonly BuildCache[] =>
  entries.map(entry => withLogin(entry, env)).filter(({ type, attributes }) => type !== 'gha' || isUsable(attributes))

const isUsable = ({ token, url, url_v2 }: BuildCache['attributes']): boolean =>
  Boolean(token) && (Boolean(url) || Boolean(url_v2))

function withLogin({ type, attributes }: BuildCache, env: Env): BuildCache {
  if (type === 'gha') return { type, attributes: { ...present(actions(attributes, env)), ...attributes } }
  if (type === 's3') return { type, attributes: { ...present(aws(attributes, env)), ...attributes } }
  return { type, attributes }
}

/**
 * Returns the missing attributes of the GitHub Actions cache, as in
 * https://docs.docker.com/build/cache/backends/gha/#authentication. Returns none if the file sets an address, because a
 * token must not be sent to an address that may belong to an attacker.
 */
function actions({ version, url, url_v2 }: BuildCache['attributes'], env: Env): Env {
  if (url || url_v2) return {}
  const isSecond =
    version === '2' || (version === undefined && /^(?:1|t|true)$/i.test(env.ACTIONS_CACHE_SERVICE_V2 ?? ''))
  return {
    token: env.ACTIONS_RUNTIME_TOKEN,
    url: env.ACTIONS_CACHE_URL || env.ACTIONS_RESULTS_URL,
    url_v2: isSecond ? env.ACTIONS_RESULTS_URL : undefined,
  }
}

/**
 * Returns the missing attributes of the S3 cache, as in
 * https://docs.docker.com/build/cache/backends/s3/#authentication. Returns none if the file has a full access key: a
 * session token in the environment belongs to another key.
 */
function aws({ access_key_id, secret_access_key }: BuildCache['attributes'], env: Env): Env {
  if (access_key_id && secret_access_key) return {}
  return {
    access_key_id: env.AWS_ACCESS_KEY_ID,
    secret_access_key: env.AWS_SECRET_ACCESS_KEY,
    session_token: env.AWS_SESSION_TOKEN,
  }
}

const present = (values: Env): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (value ? [[name, value]] : [])))
