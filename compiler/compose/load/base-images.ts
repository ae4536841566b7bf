import { isAbsolute, join } from 'node:path/posix'
import type { Reporter } from '../../diagnostics/reporter.ts'
import type { CompilerHost } from '../../host.ts'
import type { Span } from '../../text/source.ts'
import { entry, get, isMap, type MapTree, type Tree } from '../../text/tree.ts'
import { scalarText } from '../../text/tree-text.ts'
import { type BuildOverrides, buildersNamed, withOverrides } from '../../values/dockerfile/dockerfile-images.ts'
import { familiarName } from '../../values/images/image-reference.ts'
import { DEFAULT_PLATFORM } from '../../values/images/platform.ts'
import { mayRead } from '../read/storage/outside-files.ts'
import { scalarAt } from './checks/consistency-input.ts'
import type { BaseImage, BaseImagesOf } from './context-services.ts'

/**
 * Returns a function that finds the images of other services in a service's Dockerfile. The function considers only
 * services with `build`. It reads each Dockerfile when it is first needed, and skips Dockerfiles that are not on this
 * machine.
 */
export function findBaseImages(services: MapTree, reading: Reading): BaseImagesOf {
  const builders = buildersOf(services)
  const known = new Map<string, readonly BaseImage[]>()
  return name => {
    const found = known.get(name)
    if (found) return found
    const service = get(services, name)
    const images = builders.size === 0 ? [] : baseImages(service, builders, reading)
    known.set(name, images)
    return images
  }
}

interface Reading {
  readonly host: CompilerHost
  readonly reporter: Reporter
  /** Build settings from the command line. */
  readonly overrides?: BuildOverrides | undefined
}

/**
 * Maps the image names of services with `build` to the names of the services. If several services have the same image
 * name, the first service is used.
 */
function buildersOf(services: MapTree): ReadonlyMap<string, string> {
  const builders = new Map<string, string>()
  for (const [name, { value }] of services.entries) {
    const image = get(value, 'build') && imageOf(value)
    if (image !== undefined && !builders.has(image)) builders.set(image, name)
  }
  return builders
}

function imageOf(service: Tree): string | undefined {
  const image = scalarAt(service, 'image')
  return image && familiarName(scalarText(image))
}

function baseImages(
  service: Tree | undefined,
  builders: ReadonlyMap<string, string>,
  { host, reporter, overrides = {} }: Reading,
): readonly BaseImage[] {
  const build = get(service, 'build')
  if (!service || !isMap(build)) return []
  const dockerfile = readDockerfile(build, entry(service, 'build')!.key, host, reporter)
  if (!dockerfile) return []
  const { text, span } = dockerfile
  const target = scalarAt(build, 'target')
  // A named context takes precedence over an image. A service's own image in its Dockerfile does not count as another
  // service's image.
  const given = new Set([...contextNames(build), imageOf(service)])
  const written = {
    text,
    target: target && scalarText(target),
    args: argumentsOf(build),
    platforms: platformsOf(service, build, host),
  }
  const used = buildersNamed(withOverrides(written, overrides), builders, image => given.has(image))
  return [...used].map(([image, builder]) => ({ service: builder, image, span }))
}

const contextNames = (build: MapTree): readonly string[] => {
  const contexts = get(build, 'additional_contexts')
  return isMap(contexts) ? [...contexts.entries.keys()].map(name => familiarName(name) ?? name) : []
}

/** Returns the platforms of a build, by the same rules as `composeBuildSpec`. */
function platformsOf(service: Tree, build: MapTree, host: CompilerHost): readonly string[] {
  const listed = get(build, 'platforms')
  const platforms =
    listed?.kind === 'seq' ? listed.items.flatMap(one => (one.kind === 'scalar' ? scalarText(one) : [])) : []
  if (platforms.length > 0) return platforms
  const own = scalarAt(service, 'platform')
  const platform = own ? scalarText(own) : host.environment.get(DEFAULT_PLATFORM)
  return platform ? [platform] : []
}

function argumentsOf(build: MapTree): ReadonlyMap<string, string> {
  const args = get(build, 'args')
  const pairs = isMap(args) ? [...args.entries] : []
  return new Map(
    pairs.flatMap(([name, { value }]) =>
      value.kind === 'scalar' && value.type !== 'null' ? [[name, scalarText(value)] as const] : [],
    ),
  )
}

/**
 * Reads a Dockerfile on this machine. Returns its text, and the position in the Compose file at which it is named.
 * Returns undefined for a remote context, and if the Dockerfile cannot be read; the build reports a missing one.
 */
function readDockerfile(
  build: MapTree,
  key: Span,
  host: CompilerHost,
  reporter: Reporter,
): { readonly text: string; readonly span: Span } | undefined {
  const inline = scalarAt(build, 'dockerfile_inline')
  if (inline && scalarText(inline) !== '') return { text: scalarText(inline), span: inline.span }
  const context = scalarAt(build, 'context')
  const written = scalarAt(build, 'dockerfile')
  const folder = context ? scalarText(context) : ''
  if (!isAbsolute(folder)) return undefined
  const name = (written && scalarText(written)) || 'Dockerfile'
  const path = isAbsolute(name) ? name : join(folder, name)
  const span = written?.span ?? key
  if (host.stat(path)?.kind !== 'file' || !mayRead(host, path, span, reporter)) return undefined
  const content = host.readFile(path)
  return content.kind === 'file' ? { text: new TextDecoder().decode(content.bytes), span } : undefined
}
