import { type CallOptions, type Cluster, ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isEnding } from './removal.ts'

/** A Secret of a namespace. */
export interface SecretName {
  readonly namespace: string
  readonly name: string
}

type Data = Readonly<Record<string, string>>

/** Maximum number of attempts to write a Secret that other clients change at the same time. */
const TRIES = 5

/** Returns the keys that a Secret of the cluster lacks: all keys if the Secret does not exist. */
export async function missingKeys(
  cluster: Cluster,
  secret: SecretName,
  keys: readonly string[],
  options: CallOptions,
): Promise<readonly string[]> {
  const data = dataOf(await cluster.get(refTo(secret), options))
  return keys.filter(key => data[key] === undefined)
}

/**
 * Adds values to a Secret. A missing Secret is created without labels, so it belongs to no deploy and is never pruned.
 * Existing keys keep their values. Returns true if the Secret was created. Throws a UserError if the Secret cannot take
 * new keys, because it is being deleted, immutable, or owned by a controller.
 */
export async function addSecretKeys(
  cluster: Cluster,
  secret: SecretName,
  values: ReadonlyMap<string, Uint8Array>,
  options: CallOptions,
): Promise<'created' | 'extended'> {
  const added: Data = Object.fromEntries(
    [...values].map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  )
  for (let left = TRIES; ; left--) {
    const there = await cluster.get(refTo(secret), options)
    try {
      if (there) await cluster.replace({ ...writable(there), data: { ...added, ...dataOf(there) } }, options)
      else await cluster.create(newSecret(secret, added), options)
      return there ? 'extended' : 'created'
    } catch (error) {
      // Another process has created or changed it first.
      const isRace = error instanceof ClusterError && (error.failure === 'exists' || error.failure === 'conflict')
      if (!isRace || left === 1) throw error
    }
  }
}

function newSecret({ namespace, name }: SecretName, data: Data): KubeObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, type: 'Opaque', data }
}

const refTo = (secret: SecretName) => ({ apiVersion: 'v1', kind: 'Secret', ...secret })

const dataOf = (secret: KubeObject | undefined) => (secret?.['data'] ?? {}) as Data // a Secret's data are texts in base64

/** Returns the Secret; throws a UserError if new keys would be rejected, or removed again. */
function writable(secret: KubeObject): KubeObject {
  const { name, ownerReferences } = secret.metadata
  const owner = ownerReferences?.find(({ controller }) => controller) ?? ownerReferences?.[0]
  const refuse = (why: string, hint: string) => new UserError(`the Secret \`${name}\` ${why}`, { hint })
  if (isEnding(secret)) throw refuse('is being deleted', 'wait until it is deleted, and try again')
  if (secret['immutable'] === true) throw refuse('is immutable', 'delete it first, or name another one in `devctl.yml`')
  if (owner) throw refuse(`is managed by ${owner.kind} \`${owner.name}\``, 'add the key there')
  return secret
}
