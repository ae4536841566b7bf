import { type Cluster, ClusterError } from '../../adapters/kubernetes/cluster.ts'
import { tokenSecret, USERS_NAMESPACE, userAccount } from '../records/names.ts'
import type { Identified } from './caller.ts'
import { notLoggedIn } from './platform-error.ts'

/** Seconds that a token of Kubernetes lives; it is bound to the token that it was asked with. */
const LIFE = 3600

/**
 * A token of Kubernetes with the rights of the caller. It ends with the token of the platform that
 * was used, within seconds. Throws a PlatformError when that is gone already.
 */
export async function kubeToken(
  cluster: Cluster,
  { user, token }: Identified,
): Promise<{ readonly token: string; readonly expires: string }> {
  // Without a uid, it is bound to the Secret that has this name now: names of tokens are random.
  const bound = { apiVersion: 'v1', kind: 'Secret', name: tokenSecret(token.id) }
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', name: userAccount(user.id), namespace: USERS_NAMESPACE }
  const made = await cluster
    .createIn(account, 'token', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: LIFE, boundObjectRef: bound },
    })
    .catch(error => {
      // It was deleted a moment ago.
      throw error instanceof ClusterError && error.failure === 'not-found' ? notLoggedIn() : error
    })
  const status = made['status'] as { readonly token: string; readonly expirationTimestamp: string } // a TokenRequest's
  return { token: status.token, expires: status.expirationTimestamp }
}
