import * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import type { ClaimSpec, KeyPath, PodVolume } from '../../compiler/plan/plan.ts'
import type { NewerVolume } from './newer-fields.ts'

/** Converts a volume of a Pod. Claims that live as long as the Pod get `labels`, like all devctl objects. */
export function toVolume(plan: PodVolume, labels: Readonly<Record<string, string>>): NewerVolume {
  const { name } = plan
  switch (plan.kind) {
    case 'claim':
      return { name, persistentVolumeClaim: { claimName: plan.claim, readOnly: plan.readOnly || undefined } }
    case 'ephemeral':
      return {
        name,
        ephemeral: {
          volumeClaimTemplate: {
            metadata: { labels: { ...labels }, annotations: plan.spec.annotations && { ...plan.spec.annotations } },
            spec: toClaimSpec(plan.spec),
          },
        },
      }
    case 'memory':
      return {
        name,
        emptyDir: { medium: 'Memory', sizeLimit: plan.sizeLimit ? k8s.Quantity.fromString(plan.sizeLimit) : undefined },
      }
    case 'empty':
      return { name, emptyDir: {} }
    case 'configMap':
      return { name, configMap: { name: plan.configMap, defaultMode: plan.mode, items: plan.items?.map(toItem) } }
    case 'secret':
      return { name, secret: { secretName: plan.secret, defaultMode: plan.mode, items: plan.items?.map(toItem) } }
    case 'projected':
      return { name, projected: toProjected(plan) }
    case 'nfs':
      return { name, nfs: { server: plan.server, path: plan.path, readOnly: plan.readOnly || undefined } }
    case 'image':
      return { name, image: { reference: plan.reference, pullPolicy: plan.pullPolicy } }
    case 'hostPath':
      return { name, hostPath: { path: plan.path, type: plan.type } }
  }
}

/** Returns the specification of a claim. */
export function toClaimSpec(plan: ClaimSpec): k8s.PersistentVolumeClaimSpec {
  return {
    accessModes: [plan.accessMode],
    storageClassName: plan.storageClass,
    resources: { requests: { storage: k8s.Quantity.fromString(plan.size) } },
  }
}

/**
 * Returns the source of a projected volume. A folder in the volume exists only if it contains a file, so each folder
 * gets a file `.mount` with the Pod's name as its content. The file stays invisible because a volume is mounted over
 * the folder.
 */
function toProjected({ sources, folders }: Extract<PodVolume, { kind: 'projected' }>): k8s.ProjectedVolumeSource {
  const places = folders.map(folder => ({ path: `${folder}/.mount`, fieldRef: { fieldPath: 'metadata.name' } }))
  return {
    sources: [
      ...sources.map(({ kind, object, items }): k8s.VolumeProjection => {
        const source = { name: object, items: items.map(toItem) }
        return kind === 'configMap' ? { configMap: source } : { secret: source }
      }),
      ...(places.length > 0 ? [{ downwardApi: { items: places } }] : []),
    ],
  }
}

function toItem(plan: KeyPath): k8s.KeyToPath {
  return { key: plan.key, path: plan.path, mode: plan.mode }
}
