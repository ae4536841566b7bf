import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { LEADER_LEASE, PLATFORM_NAMESPACE } from './names.ts'

/** Milliseconds since its last renewal after which nobody is the leader. */
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

/** The name of the Pod that leads, by the Lease; undefined: none does. */
export function toLeader(lease: KubeObject | undefined, now: number): string | undefined {
  const { holderIdentity = '', renewTime = '' } = (lease?.['spec'] ?? {}) as LeaseSpec // as Kubernetes defines it
  const isHeld = holderIdentity !== '' && now - Date.parse(renewTime) < LEASE_ENDS
  return isHeld ? holderIdentity.replace(/-[0-9a-f]{10}$/, '') : undefined
}
