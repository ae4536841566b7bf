import { resolve } from 'node:path/posix'
import { defaultDockerfile } from '../compose/build-files.ts'
import { mayRead } from '../compose/read/storage/outside-files.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { CompilerHost } from '../host.ts'
import { type BuildOverrides, buildersNamed, withOverrides } from '../values/dockerfile/dockerfile-images.ts'
import { familiarName } from '../values/images/image-reference.ts'
import { DEFAULT_PLATFORM } from '../values/images/platform.ts'
import { checkOrder } from './build.ts'
import { manifestContext } from './build-spec.ts'
import type { DevctlManifest, ImageBuild } from './manifest.ts'

/** An image of the manifest, and the other images of the manifest that its Dockerfile uses. */
export interface BuildWithBases {
  /** The image. Its `dependsOn` includes the images in `bases`. */
  readonly build: ImageBuild
  /** Names of images in the manifest's `build` section. The keys are the image names that BuildKit looks up. */
  readonly bases: ReadonlyMap<string, string>
}

/**
 * Returns the images of the manifest, each with the other images of the manifest that its Dockerfile names in `FROM`,
 * `COPY --from=` and `RUN --mount=from=`. Reports images that are built from each other in a cycle.
 */
export function withBaseImages(
  manifest: Pick<DevctlManifest, 'folder' | 'build'>,
  host: CompilerHost,
  reporter: Reporter,
  overrides: BuildOverrides = {},
): ReadonlyMap<string, BuildWithBases> {
  const builders = new Map(
    [...manifest.build.values()].flatMap(({ name, image }) => {
      const known = image && familiarName(image.value)
      return known === undefined ? [] : [[known, name] as const]
    }),
  )
  const found = new Map(
    [...manifest.build.values()].map(build => {
      const bases =
        builders.size === 0
          ? new Map<string, string>()
          : basesOf(build, builders, { manifest, host, reporter, overrides })
      const known = new Set(build.dependsOn.map(({ value }) => value))
      const { span } = build.dockerfile ?? build
      const added = [...new Set(bases.values())].filter(name => !known.has(name)).map(value => ({ value, span }))
      return [build.name, { build: { ...build, dependsOn: [...build.dependsOn, ...added] }, bases }] as const
    }),
  )
  checkOrder(new Map([...found].map(([name, { build }]) => [name, build])), new Set(found.keys()), { reporter })
  return found
}

interface Reading {
  readonly manifest: Pick<DevctlManifest, 'folder'>
  readonly host: CompilerHost
  readonly reporter: Reporter
  /** Build settings from the command line. */
  readonly overrides: BuildOverrides
}

function basesOf(
  build: ImageBuild,
  builders: ReadonlyMap<string, string>,
  reading: Reading,
): ReadonlyMap<string, string> {
  const text = dockerfileOf(build, reading)
  if (text === undefined) return new Map()
  const args = new Map(build.args.map(({ name, value }) => [name, value]))
  const platform = reading.host.environment.get(DEFAULT_PLATFORM)
  const written = { text, target: build.target?.value, args, platforms: platform ? [platform] : [] }
  // An image's own name in its Dockerfile does not count as another image of the manifest.
  return buildersNamed(withOverrides(written, reading.overrides), builders, image => builders.get(image) === build.name)
}

/**
 * Returns the text of a Dockerfile on this machine. Looks for it in the context, then in the folder of the manifest.
 */
function dockerfileOf({ context, dockerfile, span }: ImageBuild, { manifest, host, reporter }: Reading) {
  const source = manifestContext(context.value, manifest.folder)
  if ('remote' in source) return undefined
  const paths = [source.folder, ...(dockerfile ? [manifest.folder] : [])].map(folder =>
    resolve(folder, dockerfile?.value ?? defaultDockerfile(folder, host)),
  )
  const path = paths.find(one => host.stat(one)?.kind === 'file')
  if (path === undefined || !mayRead(host, path, dockerfile?.span ?? span, reporter)) return undefined
  const content = host.readFile(path)
  return content.kind === 'file' ? new TextDecoder().decode(content.bytes) : undefined
}
