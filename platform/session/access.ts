import { proxyFor } from '../../adapters/http/proxy.ts'
import { type KubeconfigAccess, tokenAccess } from '../../adapters/kubernetes/connection.ts'
import { devctlHome, type Surroundings } from '../../project/contexts/home.ts'
import { Secret } from '../../project/contexts/secret.ts'
import { type StoredContext, saveContext } from '../../project/contexts/store.ts'
import type { Target } from '../../project/contexts/target.ts'
import { connectPlatform } from './connect-platform.ts'
import { platformInfo } from './platform-info.ts'

/** Milliseconds before its end at which a token of Kubernetes is not used any more. */
const MARGIN = 60_000

/** The cluster of a platform, and a token for it. */
export interface PlatformCredential {
  readonly server: string
  /** Certificate of the authority as PEM. */
  readonly ca?: string | undefined
  readonly token: Secret
  /** RFC 3339: from then on, another one is needed. */
  readonly expires: string
}

type Stored = Pick<Target, 'context' | 'stored'>

/**
 * The access to the cluster of a platform, with the rights of the person who has logged in, and the target with what a
 * login remembers of the platform. As long as the last token of Kubernetes is good, the platform is not asked.
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

/** A login remembers the domain, unless its person wants none; of a token of the environment, nothing is remembered. */
async function withDomain(ask: AskForInfo, stored: StoredContext): Promise<StoredContext> {
  if (stored.kubernetes) return stored
  const { domain }: { readonly domain?: unknown } = await ask()
  return typeof domain === 'string' && domain !== '' ? { domain, ...stored } : stored
}

/** Returns the credential for a program that is not devctl. */
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

/** Asks the platform at most once what it says about itself, with the check that this command line is new enough. */
function infoOf({ env }: Surroundings, { context, stored }: Stored, signal: AbortSignal): AskForInfo {
  let asked: ReturnType<AskForInfo> | undefined
  return () => {
    asked ??= platformInfo(connectPlatform(context, stored.token, env), signal)
    return asked
  }
}

type AskForInfo = () => ReturnType<typeof platformInfo>

/**
 * Returns the API server that the login has stored. A token of the environment has none stored, so the platform is
 * asked.
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
    if (stored.kubernetes) await saveContext(devctlHome(around), { name: context, kubeToken: kept }, false)
    return kept
  }
}
