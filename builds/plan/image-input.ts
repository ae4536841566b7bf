import type { BuildOutput, ContextSource, ImageInput, ImageLayout } from '../../adapters/buildkit/builder.ts'
import type { BuildCache } from '../../compiler/values/images/build-cache.ts'
import type { BuildContext } from '../../compiler/values/images/build-context.ts'
import { type BuildSpec, type CacheExport, withExportedCache } from '../../compiler/values/images/build-spec.ts'

/** Command options that apply to all builds. They take precedence over the settings in the Compose file or manifest. */
export interface BuildSettings {
  readonly noCache?: boolean
  /** True if the builder should check for newer base images. */
  readonly pull?: boolean
  /** False if the build only checks that the images can be built. */
  readonly push?: boolean
  readonly args?: ReadonlyMap<string, string>
  readonly target?: string
  readonly platforms?: readonly string[]
  readonly secrets?: ImageInput['secrets']
  readonly cacheFrom?: ImageInput['cacheFrom']
  /** Caches to export. `cacheTo` is added to the caches of the build; `exportCache` replaces its cache images. */
  readonly cacheExport?: CacheExport
}

/** Images that other builds are based on, by service. */
export interface BaseImages {
  readonly images: ReadonlyMap<string, string>
  /** Layouts of images that are not pushed, by service. */
  readonly layouts: ReadonlyMap<string, ImageLayout>
}

/**
 * Returns the input for the builder: the spec of the build, with the settings of the command line and the sources of
 * its base images.
 */
export function imageInput(
  { dependsOn, exportCache, ...spec }: BuildSpec,
  settings: BuildSettings,
  base: BaseImages,
  output: BuildOutput,
): ImageInput {
  const caches = exportingTo({ cacheTo: spec.cacheTo, exportCache }, settings.cacheExport)
  return {
    ...spec,
    ...(settings.target !== undefined && { target: settings.target }),
    contexts: new Map([
      ...dependsOn.flatMap(service => byReference(service, base)),
      ...[...spec.contexts].map(([name, context]) => [name, sourceOf(context, base)] as const),
    ]),
    args: new Map([...spec.args, ...(settings.args ?? [])]),
    platforms: settings.platforms ?? spec.platforms,
    noCache: settings.noCache || spec.noCache,
    pull: settings.pull || spec.pull,
    secrets: new Map([...spec.secrets, ...(settings.secrets ?? [])]),
    cacheFrom: settings.cacheFrom ?? spec.cacheFrom,
    // Caches are pushed with the image; a build that only checks writes no cache that others use.
    cacheTo: 'names' in output ? withExportedCache(caches, output.names) : caches.cacheTo.filter(isKeptHere),
    output,
  }
}

/** True for caches that stay on this machine or in the image; others are in registries and other services. */
const isKeptHere = ({ type }: BuildCache): boolean => type === 'local' || type === 'inline'

/**
 * Returns a spec with `given`: adds the caches in `cacheTo`, and replaces `exportCache`. Without `given`, returns the
 * spec unchanged.
 */
export const exportingTo = <Spec extends CacheExport>(spec: Spec, given: CacheExport | undefined): Spec =>
  given ? { ...spec, cacheTo: [...spec.cacheTo, ...given.cacheTo], exportCache: given.exportCache } : spec

type Source = ContextSource | ImageLayout

/**
 * Returns the source of a build context. The builder takes the image of a service from the registry, or from this
 * machine if the image is not pushed.
 */
const sourceOf = (context: BuildContext, { images, layouts }: BaseImages): Source =>
  context.service === undefined
    ? context
    : (layouts.get(context.service) ?? { remote: `docker-image://${images.get(context.service)}` })

/**
 * Returns the reference and the layout of a service's image as a list entry. With it, a Dockerfile can get the
 * reference from a variable and use it in `FROM`. The list is empty if the image has no layout, because the image is
 * then in a registry.
 */
function byReference(service: string, { images, layouts }: BaseImages): readonly (readonly [string, Source])[] {
  const [layout, reference] = [layouts.get(service), images.get(service)]
  // Name as the builder looks it up.
  return layout && reference ? [[reference.replace(/^docker\.io\/(?:library\/)?/, ''), layout]] : []
}
