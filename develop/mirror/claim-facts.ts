import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { parseQuantity } from '../../compiler/values/numbers/quantity.ts'
import { claimName } from '../../constructs/mirror/names.ts'
import type { MirrorFacts, MirrorSettings, VolumeSettings } from '../../constructs/mirror/settings.ts'
import { unlessForbidden } from '../../environment/forbidden.ts'
import { valueAt } from '../../environment/record/up-record.ts'
import type { Session } from '../../project/session.ts'
import { allConcurrent } from '../all-concurrent.ts'

/** Size of a claim for which none is specified. */
const DEFAULT_SIZE = '5Gi'

/**
 * Returns the names of the namespace's claims, whether a claim can be created, and the size of a larger existing claim.
 * Throws a UserError if an existing claim cannot be changed to match the settings.
 */
export async function claimFacts(
  { cluster, namespace, signal }: Session,
  { name, mode, volume }: MirrorSettings,
): Promise<Pick<MirrorFacts, 'claims' | 'canClaim' | 'claimSize'>> {
  const query = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace }
  const isClaimed = mode !== 'hybrid' && volume.enabled
  const [found, canClaim] = await allConcurrent([
    cluster.list(query, { signal }),
    isClaimed && (volume.storageClass !== undefined || hasDefaultClass({ cluster, signal })),
  ])
  const claims = new Set(found.map(({ metadata }) => metadata.name))
  const existing = found.find(({ metadata }) => metadata.name === claimName(name))
  if (!isClaimed || !existing) return { claims, canClaim }
  refuseChange(existing, volume, name)
  const size = sizeOf(existing)
  return { claims, canClaim: true, ...(milli(size) > milli(volume.size) && { claimSize: size }) }
}

/**
 * Returns true if the cluster has a default storage class. Most users may not list storage classes; a default class is
 * then assumed, because almost every cluster has one.
 */
async function hasDefaultClass({ cluster, signal }: Pick<Session, 'cluster' | 'signal'>): Promise<boolean> {
  const query = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' }
  const classes = await unlessForbidden(cluster.list(query, { signal }), undefined)
  const isDefault = ({ metadata: { annotations } }: KubeObject) =>
    annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true'
  return classes === undefined || classes.some(isDefault)
}

/**
 * Throws a UserError if the settings require a change of a claim other than a larger size. Some storage classes allow a
 * larger size.
 */
function refuseChange(live: KubeObject, volume: VolumeSettings, development: string): void {
  const refuse = (what: string, is: string, wanted: string) => {
    throw new UserError(`the claim \`${live.metadata.name}\` has the ${what} \`${is}\`, not \`${wanted}\``, {
      hint: `keep it, or delete the claim with its files: \`devctl down ${development} --volumes\``,
    })
  }
  const size = sizeOf(live)
  if (volume.size !== DEFAULT_SIZE && milli(volume.size) < milli(size)) refuse('size', size, volume.size)
  const storageClass = valueAt(live, ['spec', 'storageClassName'])
  if (volume.storageClass !== undefined && storageClass !== volume.storageClass)
    refuse('storage class', String(storageClass), volume.storageClass)
  const [mode] = (valueAt(live, ['spec', 'accessModes']) ?? []) as readonly string[] // a claim's
  if (mode !== undefined && mode !== volume.accessMode) refuse('access mode', mode, volume.accessMode)
  const volumeMode = valueAt(live, ['spec', 'volumeMode']) ?? 'Filesystem'
  if (volumeMode !== volume.volumeMode) refuse('volume mode', String(volumeMode), volume.volumeMode)
}

const sizeOf = (claim: KubeObject): string => String(valueAt(claim, ['spec', 'resources', 'requests', 'storage']))

function milli(text: string): bigint {
  const read = parseQuantity(text)
  return read.ok ? read.value.milli : 0n
}
