import { type Cluster, ClusterError, type ObjectRef } from '../../../adapters/kubernetes/cluster.ts'
import { RUNS_NAMESPACE, tokenSecret, USERS_NAMESPACE, userAccount } from '../../records/names.ts'
import { inputSecret, type RunRecord } from '../../records/run.ts'
import type { ServerContext } from '../context.ts'
import { runAccount } from '../runs/run-objects.ts'
import { type Accounts, type Identified, stillAllowed } from './caller.ts'
import { notLoggedIn } from './platform-error.ts'

/**
 * Lifetime of a Kubernetes token in seconds. The Kubernetes token also ends with the platform token that was used to
 * request it.
 */
const LIFE = 3600
/** Minimum lifetime that Kubernetes allows, in seconds. */
const SHORT = 600

/**
 * Returns a Kubernetes token with the rights of the caller. It becomes invalid within seconds when the caller's
 * platform token is deleted. Throws a PlatformError if the caller would be refused now.
 */
export async function kubeToken(
  { cluster, now }: Pick<ServerContext, 'cluster' | 'now'>,
  accounts: Accounts,
  by: Identified,
): Promise<KubeToken> {
  const [account, secret] = [userAccount(by.user.id), tokenSecret(by.token.id)]
  const issued = await tokenOf(cluster, { account, namespace: USERS_NAMESPACE, secret })
  // A suspended API token is recreated as a Secret of the same name, so the Kubernetes token could be bound to the new
  // Secret. If the caller is refused after this check, that Secret is deleted.
  await stillAllowed(by, accounts, now())
  return issued
}

/** Returns a Kubernetes token for a run, with the rights of runs in its namespace. It ends with the run. */
export function kubeTokenOfRun(cluster: Cluster, run: RunRecord): Promise<KubeToken> {
  return tokenOf(cluster, { account: runAccount(run), namespace: RUNS_NAMESPACE, secret: inputSecret(run.id) })
}

/** Returns a Kubernetes token for the platform itself, with the rights of a ServiceAccount. */
export function accountToken(
  cluster: Cluster,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): Promise<KubeToken> {
  return requestToken(
    cluster,
    { apiVersion: 'v1', kind: 'ServiceAccount', name, namespace },
    { expirationSeconds: SHORT },
  )
}

interface KubeToken {
  readonly token: string
  readonly expires: string
}

async function tokenOf(
  cluster: Cluster,
  {
    account: name,
    namespace,
    secret,
  }: { readonly account: string; readonly namespace: string; readonly secret: string },
): Promise<KubeToken> {
  // A token without a UID is bound to the current Secret of this name; the ids of tokens and runs are random.
  const bound = { apiVersion: 'v1', kind: 'Secret', name: secret }
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', name, namespace }
  return requestToken(cluster, account, { expirationSeconds: LIFE, boundObjectRef: bound }).catch(error => {
    // The Secret was deleted a moment ago.
    throw error instanceof ClusterError && error.failure === 'not-found' ? notLoggedIn() : error
  })
}

async function requestToken(cluster: Cluster, account: ObjectRef, spec: object): Promise<KubeToken> {
  const made = await cluster.createIn(account, 'token', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec,
  })
  const status = made['status'] as { readonly token: string; readonly expirationTimestamp: string } // a TokenRequest's
  return { token: status.token, expires: status.expirationTimestamp }
}
