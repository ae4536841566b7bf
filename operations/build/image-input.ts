import type { BuildOutput, ContextSource, ImageInput } from '../../adapters/buildkit/builder.ts'
import type { BuildContext } from '../../compiler/values/build-context.ts'
import { type BuildSpec, withExportedCache } from '../../compiler/values/build-spec.ts'

/** The options of a command that apply to all builds. They take precedence over the file. */
export interface BuildSettings {
  readonly noCache?: boolean
  /** False: it is only checked that the images can be built. */
  readonly push?: boolean
  readonly args?: ReadonlyMap<string, string>
  readonly target?: string
  readonly platforms?: readonly string[]
  readonly secrets?: ImageInput['secrets']
  readonly cacheFrom?: ImageInput['cacheFrom']
  readonly exportCache?: string
}

/** The input of the builder. `images` are those of the services that the image is built on. */
export function imageInput(
  { dependsOn: _, exportCache, ...spec }: BuildSpec,
  settings: BuildSettings,
  images: ReadonlyMap<string, string>,
  output: BuildOutput,
): ImageInput {
  const exported = settings.exportCache === undefined ? exportCache : [settings.exportCache]
  return {
    ...spec,
    ...(settings.target !== undefined && { target: settings.target }),
    contexts: new Map([...spec.contexts].map(([name, context]) => [name, sourceOf(context, images)])),
    args: new Map([...spec.args, ...(settings.args ?? [])]),
    platforms: settings.platforms ?? spec.platforms,
    noCache: settings.noCache || spec.noCache,
    secrets: new Map([...spec.secrets, ...(settings.secrets ?? [])]),
    cacheFrom: settings.cacheFrom ?? spec.cacheFrom,
    cacheTo: withExportedCache({ ...spec, exportCache: exported }, 'names' in output ? output.names : []),
    output,
  }
}

/** The image of a service was pushed before: the builder takes it from the registry. */
const sourceOf = (context: BuildContext, images: ReadonlyMap<string, string>): ContextSource =>
  context.service === undefined ? context : { remote: `docker-image://${images.get(context.service)}` }
