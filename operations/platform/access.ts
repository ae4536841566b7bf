import { proxyFor } from '../../adapters/http/proxy.ts'
import { type KubeconfigAccess, tokenAccess } from '../../adapters/kubernetes/connection.ts'
import { devctlHome, type Surroundings } from '../contexts/home.ts'
import { Secret } from '../contexts/secret.ts'
import { type StoredContext, saveContext } from '../contexts/store.ts'
import type { Target } from '../contexts/target.ts'
import { connectPlatform } from './connect-platform.ts'

/** Milliseconds before its end at which a token of Kubernetes is not used any more. */
const MARGIN = 60_000

/**
 * The access to the cluster of a platform, with the rights of the person who has logged in. As long
 * as the last token of Kubernetes is good, the platform is not asked.
 */
export async function platformAccess(
  around: Surroundings,
  { context, namespace, stored }: Pick<Target, 'context' | 'namespace' | 'stored'>,
  signal: AbortSignal,
): Promise<KubeconfigAccess> {
  const platform = connectPlatform(context, stored.token, around.env)
  const isKept = stored.kubernetes !== undefined
  const { server: address, ca } = stored.kubernetes ?? (await platform.call('GET /info', {}, signal)).kubernetes
  const server = new URL(address)
  let kept: StoredContext['kubeToken'] = stored.kubeToken
  return tokenAccess({
    context,
    namespace,
    server,
    ca,
    proxy: proxyFor(server, around.env),
    async token(fresh) {
      if (!fresh && kept && Date.parse(kept.expires) - Date.now() > MARGIN) return kept.token.reveal()
      const { token, expires } = await platform.call('POST /kube-token', {}, signal)
      kept = { token: new Secret(token), expires }
      // One that came by the environment is nobody's login.
      if (isKept) await saveContext(devctlHome(around), { name: context, kubeToken: kept }, false)
      return token
    },
  })
}
