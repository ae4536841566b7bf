import { proxyFor } from '../../adapters/http/proxy.ts'
import { type KubeconfigAccess, tokenAccess } from '../../adapters/kubernetes/connection.ts'
import { configHome, type Surroundings } from '../../project/contexts/home.ts'
import { Secret } from '../../project/contexts/secret.ts'
import { type StoredContext, saveContext } from '../../project/contexts/store.ts'
import type { Target } from '../../project/contexts/target.ts'
import { connectPlatform } from './connect-platform.ts'
import { platformInfo } from './platform-info.ts'

/** Remaining validity in milliseconds below which a Kubernetes token is no longer used. */
const MARGIN = 60_000

/** Address of the API server of a platform's cluster, and a token for it. */
export interface PlatformCredential {
  readonly server: string
  /** Certificate of the authority that the API server's certificate is verified with, as PEM. */
  readonly ca?: string | undefined
  readonly token: Secret
  /** RFC 3339 time from which the token must no longer be used, one minute before it expires. */
  readonly expires: string
}

type Stored = Pick<Target, 'context' | 'stored'>

/**
 * Returns the access to the cluster of a platform, with the permissions of the logged-in user, and the given target. If
 * no login has stored the data of the platform, the platform is asked, and its domain is added to the returned target.
 * If a login has stored the data, no request is sent to the platform while the last Kubernetes token is valid.
 */
export async function platformAccess(
  around: Surroundings,
  target: Target,
  signal: AbortSignal,
): Promise<{ readonly access: KubeconfigAccess; readonly target: Target }> {
  const { context, namespace } = target
  const ask = infoOf(around, target, signal)
  const { server: address, ca } = await apiServer(ask, target)
  const server = new URL(address)
  const tokenOf = tokens(around, target, ask, signal)
  const access = tokenAccess({
    context,
    namespace,
    server,
    ca,
    proxy: proxyFor(server, around.env),
    token: async fresh => (await tokenOf(fresh)).token.reveal(),
  })
  return { access, target: { ...target, stored: await withDomain(ask, target.stored) } }
}

/**
 * Adds the domain of the platform to a stored context. A login stores the domain, unless the user rejects the domain. A
 * context that comes from a token in the environment has no stored data, so the platform is asked for the domain.
 */
async function withDomain(ask: AskForInfo, stored: StoredContext): Promise<StoredContext> {
  if (stored.kubernetes) return stored
  const { domain }: { readonly domain?: unknown } = await ask()
  return typeof domain === 'string' && domain !== '' ? { domain, ...stored } : stored
}

/** Returns the address of the platform's cluster and a token for it, for a program other than devctl. */
export async function platformCredential(
  around: Surroundings,
  target: Stored,
  signal: AbortSignal,
): Promise<PlatformCredential> {
  const ask = infoOf(around, target, signal)
  const { server, ca } = await apiServer(ask, target)
  const { token, expires } = await tokens(around, target, ask, signal)(false)
  return { server, ca, token, expires: new Date(Date.parse(expires) - MARGIN).toISOString() }
}

/**
 * Returns a function that fetches the platform's information at most once, and checks that this command line is new
 * enough.
 */
function infoOf({ env }: Surroundings, { context, stored }: Stored, signal: AbortSignal): AskForInfo {
  let asked: ReturnType<AskForInfo> | undefined
  return () => {
    asked ??= platformInfo(connectPlatform(context, stored.token, env), signal)
    return asked
  }
}

type AskForInfo = () => ReturnType<typeof platformInfo>

/**
 * Returns the API server that the login has stored. For a token from the environment nothing is stored, so the platform
 * is asked.
 */
const apiServer = async (ask: AskForInfo, { stored }: Stored) => stored.kubernetes ?? (await ask()).kubernetes

function tokens(around: Surroundings, { context, stored }: Stored, ask: AskForInfo, signal: AbortSignal) {
  let kept: StoredContext['kubeToken'] = stored.kubeToken
  return async (fresh: boolean) => {
    if (!fresh && kept && Date.parse(kept.expires) - Date.now() > MARGIN) return kept
    // The platform may have been upgraded since the login.
    await ask()
    const platform = connectPlatform(context, stored.token, around.env)
    const { token, expires } = await platform.call('POST /kube-token', {}, signal)
    kept = { token: new Secret(token), expires }
    if (stored.kubernetes) await saveContext(configHome(around), { name: context, kubeToken: kept }, false)
    return kept
  }
}
