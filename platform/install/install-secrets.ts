import { randomBytes } from 'node:crypto'
import { type Cluster, ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { BUILD_NAMESPACE, KEYS_SECRET, LOGIN_SECRET, PLATFORM_NAMESPACE, REGISTRY_SECRET } from '../records/names.ts'
import { makeBuilderCertificates } from './certificates/builders-certificates.ts'
import { makeAuthority } from './certificates/certificates.ts'
import { keepOwnCertificate, OWN_AUTHORITY } from './certificates/own-certificate.ts'
import { keepClientSecrets, type WantedProviders } from './install-providers.ts'
import { BUILDER_POOLS } from './manifests/builders.ts'
import { MADE_CERTIFICATE } from './manifests/certificate.ts'
import type { Installation } from './manifests/server.ts'

interface SecretsContext {
  readonly cluster: Cluster
  readonly signal: AbortSignal
  now(): number
}

/**
 * Returns the names of the Secrets that a platform needs, by namespace. These Secrets are not among the objects of the
 * platform, because each of them is created only once, in the cluster.
 */
export function neededSecrets(one: Installation): ReadonlyMap<string, readonly string[]> {
  const { providers = [], hasRegistryTokens, ownCa } = one
  const ofBuilders = poolsOf(one).map(({ secret }) => secret)
  const own = [
    KEYS_SECRET,
    ...(providers.length > 0 ? [LOGIN_SECRET] : []),
    ...(hasRegistryTokens ? [REGISTRY_SECRET] : []),
    ...ofBuilders,
    ...(ownCa ? [OWN_AUTHORITY, MADE_CERTIFICATE] : []),
  ]
  return new Map<string, readonly string[]>([
    [PLATFORM_NAMESPACE, own],
    ...(ofBuilders.length > 0 ? [[BUILD_NAMESPACE, ofBuilders] as const] : []),
  ])
}

/** Returns the pools that have bundled builders. */
const poolsOf = ({ bundledBuilders: { count = 0, untrusted = 0 } = {} }: BuildersOf) => [
  ...(count > 0 ? [BUILDER_POOLS.default] : []),
  ...(untrusted > 0 ? [BUILDER_POOLS.untrusted] : []),
]
interface BuildersOf {
  readonly bundledBuilders?: { readonly count?: number; readonly untrusted?: number }
}

/** True if the Secret `name`, which an operator has chosen for the certificate, exists in the platform's namespace. */
export async function hasCertificate(cluster: Cluster, name: string, signal: AbortSignal): Promise<boolean> {
  const ref = { apiVersion: 'v1', kind: 'Secret', name, namespace: PLATFORM_NAMESPACE }
  return (await cluster.get(ref, { signal })) !== undefined
}

/**
 * Creates the Secrets that do not exist yet. Their namespaces have to exist. Returns the fingerprint of the platform's
 * own authority, if it has one.
 */
export async function keepSecrets(
  { cluster, signal, now }: SecretsContext,
  one: Installation,
  login: WantedProviders,
): Promise<string | undefined> {
  await keepClientSecrets(cluster, login, signal)
  await makeFirstKey(cluster, signal)
  for (const pool of poolsOf(one)) await makeBuilderCertificates(cluster, pool, now(), signal)
  if (one.hasRegistryTokens) await makeRegistryKey(cluster, now(), signal)
  return one.ownCa ? keepOwnCertificate(cluster, one.domain, now(), signal) : undefined
}

/**
 * Creates the key with which the platform encrypts its stored secrets. Keeps an existing key, because encrypted data
 * could not be read without it.
 */
export async function makeFirstKey(cluster: Cluster, signal: AbortSignal): Promise<void> {
  // The key is base64 text in the file, so that an operator can add a key with a text editor.
  const file = randomBytes(KEY_LENGTH).toString('base64')
  const secret: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: KEYS_SECRET, namespace: PLATFORM_NAMESPACE },
    data: { k1: Buffer.from(file).toString('base64') },
  }
  await createOnce(cluster, secret, signal)
}

/** Length of a key, in bytes. */
const KEY_LENGTH = 32

/**
 * Creates the key with which the platform signs tokens for its registry. Keeps an existing key, because the registry
 * has the certificate of that key.
 */
async function makeRegistryKey(cluster: Cluster, now: number, signal: AbortSignal): Promise<void> {
  const { certificate, key } = makeAuthority('devctl registry tokens', now)
  const secret: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: REGISTRY_SECRET, namespace: PLATFORM_NAMESPACE },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': certificate, 'tls.key': key },
  }
  await createOnce(cluster, secret, signal)
}

/** Creates a Secret; keeps an existing one of that name. */
async function createOnce(cluster: Cluster, secret: KubeObject, signal: AbortSignal): Promise<void> {
  try {
    await cluster.create(secret, { signal })
  } catch (error) {
    if (!(error instanceof ClusterError) || error.failure !== 'exists') throw error
  }
}
