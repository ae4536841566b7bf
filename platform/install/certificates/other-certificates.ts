import type { Cluster } from '../../../adapters/kubernetes/cluster.ts'
import { PLATFORM_NAMESPACE } from '../../records/names.ts'
import { isOfPlatform } from '../install-context.ts'
import { certificateOf, MADE_CERTIFICATE } from '../manifests/certificate.ts'
import type { Installation } from '../manifests/server.ts'
import { OWN_AUTHORITY } from './own-certificate.ts'

type Wanted = Pick<Installation, 'certManager' | 'ownCa' | 'tlsSecret'>

const { apiVersion, kind } = certificateOf('', '')
const CERTIFICATE = { apiVersion, kind, name: MADE_CERTIFICATE, namespace: PLATFORM_NAMESPACE }
const secretNamed = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', name, namespace: PLATFORM_NAMESPACE })

/**
 * Returns the ClusterIssuer that issues the certificate of an installed platform; undefined if the platform does not
 * use cert-manager, or the cluster has none.
 */
export async function certManagerOf(cluster: Cluster, signal: AbortSignal): Promise<string | undefined> {
  const live = await cluster.get(CERTIFICATE, { signal })
  const { issuerRef } = (live?.['spec'] ?? {}) as { readonly issuerRef?: { readonly name?: unknown } } // a Certificate's
  return isOfPlatform(live) && typeof issuerRef?.name === 'string' ? issuerRef.name : undefined
}

/**
 * Deletes the platform's Certificate object if the wanted certificate does not come from cert-manager, which would
 * otherwise overwrite the new certificate. Returns the names of the deleted objects.
 */
export async function endCertManager(
  cluster: Cluster,
  { certManager }: Wanted,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (certManager !== undefined || !isOfPlatform(await cluster.get(CERTIFICATE, { signal }))) return []
  const gone = (await cluster.delete(CERTIFICATE, { signal })) ? [`certificate/${MADE_CERTIFICATE}`] : []
  // If cert-manager is configured to own its Secrets, the Secret is deleted some time after the Certificate.
  const secret = await cluster.get(secretNamed(MADE_CERTIFICATE), { signal })
  const isOwned = secret?.metadata.ownerReferences?.some(one => one.kind === kind)
  return isOwned ? [...gone, ...(await drop(cluster, MADE_CERTIFICATE, signal))] : gone
}

/** Deletes the Secrets of certificates that are no longer wanted. Returns their names. */
export async function dropOtherCertificates(
  cluster: Cluster,
  { ownCa, tlsSecret }: Wanted,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const unwanted = [...(ownCa ? [] : [OWN_AUTHORITY]), ...(tlsSecret === MADE_CERTIFICATE ? [] : [MADE_CERTIFICATE])]
  return (await Promise.all(unwanted.map(name => drop(cluster, name, signal)))).flat()
}

async function drop(cluster: Cluster, name: string, signal: AbortSignal): Promise<readonly string[]> {
  const live = await cluster.get(secretNamed(name), { signal })
  const isMade = isOfPlatform(live) || live?.metadata.annotations?.[CERTIFICATE_NAME] === MADE_CERTIFICATE
  return isMade && (await cluster.delete(secretNamed(name), { signal })) ? [`secret/${name}`] : []
}

/** Annotation that cert-manager sets on the Secrets that it creates. */
const CERTIFICATE_NAME = 'cert-manager.io/certificate-name'
