import type { Cluster } from '../../adapters/kubernetes/cluster.ts'
import { MADE_CERTIFICATE } from '../../platform/install/certificate.ts'
import type { Installation } from '../../platform/install/server.ts'
import {
  BUILD_NAMESPACE,
  BUILDERS_SECRET,
  KEYS_SECRET,
  LOGIN_SECRET,
  PLATFORM_NAMESPACE,
  REGISTRY_SECRET,
} from '../../platform/records/names.ts'
import { makeBuilderCertificates } from './builders-certificates.ts'
import { makeFirstKey } from './first-key.ts'
import { keepClientSecrets, type WantedProviders } from './install-providers.ts'
import { keepOwnCertificate, OWN_AUTHORITY } from './own-certificate.ts'
import { makeRegistryKey } from './registry-key.ts'

interface SecretsWorld {
  readonly cluster: Cluster
  readonly signal: AbortSignal
  now(): number
}

/** The Secrets that a platform needs and that are in no list of its objects, by namespace: they are made once, in the cluster. */
export function neededSecrets(one: Installation): ReadonlyMap<string, readonly string[]> {
  const { providers = [], hasRegistryTokens, bundledBuilders, ownCa } = one
  const own = [
    KEYS_SECRET,
    ...(providers.length > 0 ? [LOGIN_SECRET] : []),
    ...(hasRegistryTokens ? [REGISTRY_SECRET] : []),
    ...(bundledBuilders ? [BUILDERS_SECRET] : []),
    ...(ownCa ? [OWN_AUTHORITY, MADE_CERTIFICATE] : []),
  ]
  return new Map<string, readonly string[]>([
    [PLATFORM_NAMESPACE, own],
    ...(bundledBuilders ? [[BUILD_NAMESPACE, [BUILDERS_SECRET]] as const] : []),
  ])
}

/** Makes those that are not there, in namespaces that are. Gives the fingerprint of the platform's own authority. */
export async function keepSecrets(
  { cluster, signal, now }: SecretsWorld,
  one: Installation,
  login: WantedProviders,
): Promise<string | undefined> {
  await keepClientSecrets(cluster, login, signal)
  await makeFirstKey(cluster, signal)
  if (one.bundledBuilders) await makeBuilderCertificates(cluster, now(), signal)
  if (one.hasRegistryTokens) await makeRegistryKey(cluster, now(), signal)
  return one.ownCa ? keepOwnCertificate(cluster, one.domain, now(), signal) : undefined
}
