import { UsageError } from '../compiler/diagnostics/user-error.ts'
import type { PlannedBuild } from './plan/planned-build.ts'
import { distinctBuilds } from './plan/same-images.ts'

/**
 * Enables `--export-cache` for the named images (for all, if none is named), but not for the images that they are based
 * on. Throws a UsageError for several images, because each would replace the cache of the others.
 */
export function withCacheExport(
  builds: readonly PlannedBuild[],
  names: readonly string[],
  exportCache: string | undefined,
): readonly PlannedBuild[] {
  if (exportCache === undefined) return builds
  const isNamed = ({ service }: PlannedBuild) => names.length === 0 || names.includes(service)
  const { builds: images } = distinctBuilds(builds.filter(isNamed))
  if (images.length > 1) {
    const all = images.map(({ service }) => `\`${service}\``).join(', ')
    throw new UsageError(`\`--export-cache\` is for one image, and would be for those of ${all}`, {
      hint: 'each would replace the cache of the others: name one service, or write `export_cache` into the `build` of each',
    })
  }
  return builds.map(build => (isNamed(build) ? exporting(build, exportCache) : build))
}

const exporting = (build: PlannedBuild, exportCache: string): PlannedBuild => ({
  ...build,
  specOf: (...given) => ({ ...build.specOf(...given), exportCache: [exportCache] }),
})
