import type { Manifest } from '../../constructs/manifest.ts'

/** Returns the object with these annotations, sorted, in place of its existing ones. */
export function withAnnotations(manifest: Manifest, annotations: Readonly<Record<string, string>>): Manifest {
  const { object } = manifest
  const sorted = Object.fromEntries(Object.entries(annotations).sort(([a], [b]) => (a < b ? -1 : 1)))
  return { ...manifest, object: { ...object, metadata: { ...object.metadata, annotations: sorted } } }
}
