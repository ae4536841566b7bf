import type { BuildOutput, ContextSource, ImageInput, ImageLayout } from '../../adapters/buildkit/builder.ts'
import type { BuildContext } from '../../compiler/values/images/build-context.ts'
import { type BuildSpec, withExportedCache } from '../../compiler/values/images/build-spec.ts'

/** The options of a command that apply to all builds. They take precedence over the file. */
export interface BuildSettings {
  readonly noCache?: boolean
  /** Newer base images are looked for. */
  readonly pull?: boolean
  /** False: it is only checked that the images can be built. */
  readonly push?: boolean
  readonly args?: ReadonlyMap<string, string>
  readonly target?: string
  readonly platforms?: readonly string[]
  readonly secrets?: ImageInput['secrets']
  readonly cacheFrom?: ImageInput['cacheFrom']
  readonly exportCache?: string
}

/** The images that other builds were built on, by service. */
export interface BaseImages {
  readonly images: ReadonlyMap<string, string>
  /** Images that are not pushed. */
  readonly layouts: ReadonlyMap<string, ImageLayout>
}

/** The input of the builder. */
export function imageInput(
  { dependsOn, exportCache, ...spec }: BuildSpec,
  settings: BuildSettings,
  base: BaseImages,
  output: BuildOutput,
): ImageInput {
  const exported = settings.exportCache === undefined ? exportCache : [settings.exportCache]
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
    cacheTo: withExportedCache({ ...spec, exportCache: exported }, 'names' in output ? output.names : []),
    output,
  }
}

type Source = ContextSource | ImageLayout

/** The builder takes the image of a service from the registry, or from this machine if it is not pushed. */
const sourceOf = (context: BuildContext, { images, layouts }: BaseImages): Source =>
  context.service === undefined
    ? context
    : (layouts.get(context.service) ?? { remote: `docker-image://${images.get(context.service)}` })

/**
 * Maps the reference to the layout, for a Dockerfile whose `FROM` gets the reference from a variable: the image is not
 * in a registry.
 */
function byReference(service: string, { images, layouts }: BaseImages): readonly (readonly [string, Source])[] {
  const [layout, reference] = [layouts.get(service), images.get(service)]
  // The name as the builder looks it up.
  return layout && reference ? [[reference.replace(/^docker\.io\/(?:library\/)?/, ''), layout]] : []
}
