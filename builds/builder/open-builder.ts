import type { Builder } from '../../adapters/buildkit/builder.ts'
import { connectToBuilder } from '../../adapters/buildkit/connect.ts'
import { certificatesIn } from '../../adapters/buildkit/engine/find-engine.ts'
import { BuilderError } from '../../adapters/buildkit/failure.ts'
import { readKeepalive } from '../../adapters/buildkit/keepalive.ts'
import type { BuilderTls } from '../../adapters/buildkit/options.ts'
import type { Login } from '../../adapters/buildkit/session/session.ts'
import { readRegistryCredentials } from '../../adapters/registry/docker-config.ts'
import { hostOf } from '../../adapters/registry/registry.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { type NoBuilders, openPlatformBuilder } from '../../platform/session/builder.ts'
import type { Workspace } from '../../project/workspace.ts'
import { type ChosenBuilder, LOCAL_ENGINE } from './choose-builder.ts'

type Env = Readonly<Record<string, string | undefined>>

/**
 * Connects to a builder. Throws a UserError that names the setting that chose the builder and the work that needs it,
 * or throws the signal's abort reason.
 */
export async function openBuilder(
  chosen: ChosenBuilder,
  purpose: string,
  env: Env,
  signal: AbortSignal,
): Promise<OpenBuilder> {
  const { platform, address, from } = chosen
  if (platform) {
    const found = await explained(openPlatformBuilder(platform, env, signal), PLATFORM, purpose, signal)
    if ('builder' in found) return { builder: found.builder, from: PLATFORM.from }
    const builder = await openAt({ address, from }, purpose, env, signal).catch(error => {
      throw error instanceof UserError ? withoutBoth(found.none, error) : error
    })
    return { builder, from }
  }
  return { builder: await openAt({ address, from }, purpose, env, signal), from }
}

/**
 * Combines two errors into one: the platform has no builders, and the builder that was tried instead does not answer.
 * The message about the platform comes first, because a run of the platform can try no other builder.
 */
const withoutBoth = ({ message, hint }: NoBuilders, { message: other, notes, cause }: UserError): UserError =>
  new UserError(message, { notes: [other, ...notes], ...(hint !== undefined && { hint }), cause })

/** A builder that has answered, and its origin as a phrase for messages (see `ChosenBuilder`). */
export interface OpenBuilder {
  readonly builder: Builder
  readonly from: string
}

async function openAt(
  { address, from }: Pick<ChosenBuilder, 'address' | 'from'>,
  purpose: string,
  env: Env,
  signal: AbortSignal,
): Promise<Builder> {
  const tls = address === LOCAL_ENGINE ? undefined : await certificatesOf(env)
  const options = { signal, env, keepalive: readKeepalive(env), ...(tls && { tls }) }
  return explained(connectToBuilder(address, options), { address, from }, purpose, signal)
}

const PLATFORM = { address: undefined, from: 'that of the platform' }

/**
 * Returns the result of `connecting`. If connecting fails, adds to the error the setting that chose the builder, and
 * the work that needs the builder (`purpose`).
 */
async function explained<T>(
  connecting: Promise<T>,
  { address, from }: { readonly address: string | undefined; readonly from: string },
  purpose: string,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await connecting
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof UserError)
      throw new UserError(error.message, {
        notes: [...error.notes, `the builder is ${from}`],
        ...(error.hint !== undefined && { hint: error.hint }),
        cause: error,
      })
    if (!(error instanceof BuilderError)) throw error
    throw new UserError(error.message, {
      notes: [`the builder is ${from}`, `it is needed ${purpose}`],
      hint:
        address === LOCAL_ENGINE
          ? 'start Docker, or name a BuildKit: `BUILDKIT_HOST=tcp://HOST:1234`, or `devctl context use NAME --builder tcp://HOST:1234`'
          : 'check that it is running and can be reached from here',
      cause: error,
    })
  }
}

/**
 * Reads the certificates in BUILDKIT_CERT_PATH, named as Docker names them in DOCKER_CERT_PATH: ca.pem, cert.pem,
 * key.pem.
 */
async function certificatesOf({ BUILDKIT_CERT_PATH: folder }: Env): Promise<BuilderTls | undefined> {
  if (!folder) return undefined
  const found = await certificatesIn(folder)
  if (found) return found
  throw new UserError(`\`BUILDKIT_CERT_PATH\` names \`${folder}\`, which has no certificates`, {
    hint: 'it must have `ca.pem`, and `cert.pem` and `key.pem` if the builder asks for a client certificate',
  })
}

/**
 * Returns the login for a registry: the platform's login for the platform's own registry, else the login in the user's
 * Docker configuration.
 */
export async function loginOf(
  host: string,
  { env, platformImages }: Pick<Workspace, 'env' | 'platformImages'>,
  signal: AbortSignal,
): Promise<Login | undefined> {
  const registry = hostOf(host)
  const found =
    (await platformImages?.login(registry)) ??
    (await readRegistryCredentials([registry], { env, signal })).get(registry)
  if (found?.kind === 'login') return { username: found.username, secret: found.password }
  // BuildKit treats a secret without a user name as an identity token.
  if (found?.kind === 'token') return { username: '', secret: found.identityToken }
  return undefined
}
