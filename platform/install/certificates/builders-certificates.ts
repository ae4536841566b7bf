import type { Cluster, KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { BUILD_NAMESPACE, PLATFORM_NAMESPACE } from '../../records/names.ts'
import type { BUILDER_POOLS } from '../manifests/builders.ts'
import { type KeyedCertificate, makeAuthority, makeCertificate } from './certificates.ts'

type Pool = (typeof BUILDER_POOLS)[keyof typeof BUILDER_POOLS]

/**
 * Creates the certificates that the builders of a pool and the server use to authenticate each other, unless they
 * exist. The private key of their certificate authority is discarded, so no further certificate can be issued.
 */
export async function makeBuilderCertificates(
  cluster: Cluster,
  { secret, host }: Pool,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  const refs = [BUILD_NAMESPACE, PLATFORM_NAMESPACE].map(namespace => ({
    apiVersion: 'v1',
    kind: 'Secret',
    name: secret,
    namespace,
  }))
  const live = await Promise.all(refs.map(ref => cluster.get(ref, { signal })))
  if (live.every(one => one !== undefined)) return
  const authority = makeAuthority('devctl builders', now)
  const ofBuilders = makeCertificate(authority, { name: host, use: 'server' }, now)
  const ofServer = makeCertificate(authority, { name: 'platform', use: 'client' }, now)
  for (const [namespace, one] of [
    [BUILD_NAMESPACE, ofBuilders],
    [PLATFORM_NAMESPACE, ofServer],
  ] as const)
    await cluster.apply(secretOf({ name: secret, namespace }, one, authority), {
      manager: 'devctl',
      force: true,
      signal,
    })
}

const secretOf = (
  metadata: KubeObject['metadata'],
  one: KeyedCertificate,
  authority: KeyedCertificate,
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata,
  type: 'kubernetes.io/tls',
  stringData: { 'ca.crt': authority.certificate, 'tls.crt': one.certificate, 'tls.key': one.key },
})
