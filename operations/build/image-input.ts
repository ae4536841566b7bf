import { resolve } from 'node:path'
import type { BuildOutput, ContextSource, DockerfileSource, ImageInput } from '../../adapters/buildkit/builder.ts'
import type { Build } from '../../compiler/compose/project.ts'

/** What options of a command say about all builds; they win over the file. */
export interface BuildSettings {
  readonly noCache?: boolean
  readonly args?: ReadonlyMap<string, string>
  readonly target?: string
  readonly platforms?: readonly string[]
  readonly secrets?: ImageInput['secrets']
  readonly cacheFrom?: ImageInput['cacheFrom']
  readonly cacheTo?: ImageInput['cacheTo']
}

/** What the builder is given for a `build` of a Compose file. */
export function imageInput(
  { context, dockerfile, dockerfileInline, target, args }: Build,
  settings: BuildSettings,
  output: BuildOutput,
): ImageInput {
  const main = contextSource(context.value)
  return {
    context: main,
    dockerfile: dockerfileInline ? { text: dockerfileInline.value } : dockerfileIn(main, dockerfile?.value),
    contexts: new Map(),
    ...(settings.target !== undefined ? { target: settings.target } : target && { target: target.value }),
    // A name without a value is not set.
    args: new Map([
      ...args.flatMap(({ name, value }) => (value === null ? [] : [[name, value] as const])),
      ...(settings.args ?? []),
    ]),
    labels: new Map(),
    platforms: settings.platforms ?? [],
    noCache: settings.noCache ?? false,
    pull: false,
    extraHosts: [],
    ulimits: [],
    entitlements: [],
    cacheFrom: settings.cacheFrom ?? [],
    cacheTo: settings.cacheTo ?? [],
    secrets: settings.secrets ?? new Map(),
    ssh: new Map(),
    output,
  }
}

const contextSource = (value: string): ContextSource => (value.startsWith('/') ? { folder: value } : { remote: value })

function dockerfileIn(context: ContextSource, path = 'Dockerfile'): DockerfileSource {
  return { path: 'folder' in context ? resolve(context.folder, path) : path }
}
