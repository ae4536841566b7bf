import type { Manifest } from '../../../constructs/manifest.ts'

/** Returns the files that the objects come from, as the manifests name them, sorted. */
export function sourcesOf(manifests: readonly Manifest[]): readonly string[] {
  return [...new Set(manifests.map(({ source }) => source.split('#', 1)[0]!))].sort()
}
