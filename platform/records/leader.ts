import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { LEADER_LEASE, PLATFORM_NAMESPACE } from './names.ts'

/** Time after the last renewal at which the Lease expires, in milliseconds. */
const LEASE_ENDS = 20_000

export const leaderLease = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  name: LEADER_LEASE,
  namespace: PLATFORM_NAMESPACE,
} as const

interface LeaseSpec {
  readonly holderIdentity?: string
  readonly renewTime?: string
}

/** Returns the name of the leading Pod, according to the Lease; undefined if no Pod leads. */
export function toLeader(lease: KubeObject | undefined, now: number): string | undefined {
  const { holderIdentity = '', renewTime = '' } = (lease?.['spec'] ?? {}) as LeaseSpec // as Kubernetes defines it
  const isHeld = holderIdentity !== '' && now - Date.parse(renewTime) < LEASE_ENDS
  return isHeld ? holderIdentity.replace(/-[0-9a-f]{10}$/, '') : undefined
}
