import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { BUILD_NAMESPACE, PLATFORM_NAMESPACE } from './names.ts'

/** A Deployment or StatefulSet of the platform itself. */
export interface OwnWorkload {
  /** Kind and name, such as `deployment/platform`. */
  readonly name: string
  readonly namespace: string
  readonly ready: number
  readonly wanted: number
  readonly image: string
}

/** A container in the format of Kubernetes, with only the fields that the platform reads. */
export interface OwnContainer {
  readonly image?: string
  readonly env?: readonly { readonly name: string; readonly value?: string }[]
}

interface WorkloadFields {
  readonly spec?: {
    readonly replicas?: number
    readonly template?: {
      readonly spec?: { readonly containers?: readonly OwnContainer[]; readonly volumes?: readonly { name: string }[] }
    }
    readonly volumeClaimTemplates?: readonly {
      readonly spec?: { readonly resources?: { readonly requests?: { readonly storage?: string } } }
    }[]
  }
  readonly status?: { readonly readyReplicas?: number }
}

/** The workloads of the platform, by purpose. */
export const OWN_WORKLOADS = {
  server: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'platform', namespace: PLATFORM_NAMESPACE },
  registry: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'registry', namespace: PLATFORM_NAMESPACE },
  builders: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'builder', namespace: BUILD_NAMESPACE },
  untrustedBuilders: {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    name: 'builder-untrusted',
    namespace: BUILD_NAMESPACE,
  },
} as const

/** Returns true if a URL addresses a Pod of the workload through the Service of the same name. */
export const isOfWorkload = (
  address: string,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): boolean => URL.canParse(address) && new URL(address).hostname.endsWith(`.${name}.${namespace}.svc`)

export function toOwnWorkload(one: KubeObject): OwnWorkload {
  const { spec, status } = one as WorkloadFields
  return {
    name: `${one.kind.toLowerCase()}/${one.metadata.name}`,
    namespace: one.metadata.namespace ?? '',
    ready: status?.readyReplicas ?? 0,
    wanted: spec?.replicas ?? 1,
    image: containersOf(one)[0]?.image ?? '',
  }
}

export const containersOf = (one: KubeObject | undefined): readonly OwnContainer[] =>
  (one as WorkloadFields | undefined)?.spec?.template?.spec?.containers ?? []

/**
 * Returns the storage that the first volume claim template of a workload requests for each Pod, such as `50Gi`;
 * undefined if the workload has no such template.
 */
export const claimOf = (one: KubeObject): string | undefined =>
  (one as WorkloadFields).spec?.volumeClaimTemplates?.[0]?.spec?.resources?.requests?.storage

/**
 * Returns the type of a volume of the workload's Pods, in Kubernetes' terms, such as `secret` or `csi`. Returns
 * undefined if the Pods have no volume with this name.
 */
export function volumeKind(one: KubeObject, name: string): string | undefined {
  const volume = (one as WorkloadFields).spec?.template?.spec?.volumes?.find(found => found.name === name)
  return volume && Object.keys(volume).find(key => key !== 'name')
}
