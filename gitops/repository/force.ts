import type { KubernetesObject, Manifest } from '../../constructs/manifest.ts'
import { withAnnotations } from '../agents/annotations.ts'

const SYNC_OPTIONS = 'argocd.argoproj.io/sync-options'
const FORCE = 'kustomize.toolkit.fluxcd.io/force'
const FORCED = ['Replace=true', 'Force=true']

/**
 * Adds the annotations that make Argo CD and Flux delete the object and create it again, instead of failing to change
 * it.
 */
export function withForce(manifest: Manifest): Manifest {
  const { annotations = {} } = manifest.object.metadata
  const options = [...optionsOf(annotations), ...FORCED].join(',')
  return withAnnotations(manifest, { ...annotations, [SYNC_OPTIONS]: options, [FORCE]: 'enabled' })
}

/** True if an object has the annotations that `withForce` adds. */
export function isForced({ metadata: { annotations = {} } }: KubernetesObject): boolean {
  const options = optionsOf(annotations)
  return FORCED.every(option => options.includes(option)) && annotations[FORCE] === 'enabled'
}

/** Returns an object without the annotations that `withForce` adds. */
export function withoutForce(object: KubernetesObject): KubernetesObject {
  if (!isForced(object)) return object
  const { [SYNC_OPTIONS]: _, [FORCE]: __, ...annotations } = object.metadata.annotations ?? {}
  const { annotations: ___, ...metadata } = object.metadata
  const options = optionsOf(object.metadata.annotations ?? {}).filter(option => !FORCED.includes(option))
  const left = { ...annotations, ...(options.length > 0 && { [SYNC_OPTIONS]: options.join(',') }) }
  return { ...object, metadata: { ...metadata, ...(Object.keys(left).length > 0 && { annotations: left }) } }
}

function optionsOf(annotations: Readonly<Record<string, string>>): readonly string[] {
  return (annotations[SYNC_OPTIONS] ?? '').split(',').filter(option => option !== '')
}
