import type { Span } from '../../text/source.ts'
import { type Entry, get, isMap, type MapTree } from '../../text/tree.ts'
import { scalarText } from '../../text/tree-text.ts'

/** An image of another service that a Dockerfile names: in `FROM`, `COPY --from=` or `RUN --mount=from=`. */
export interface BaseImage {
  readonly service: string
  /** The name of the image, as BuildKit looks up a context for it. */
  readonly image: string
  /** The position of the Dockerfile in the Compose file. */
  readonly span: Span
}

/** Returns the images of other services that the Dockerfile of a service names. */
export type BaseImagesOf = (service: string) => readonly BaseImage[]

/** A service whose image a build uses. */
export interface UsedService {
  readonly name: string
  readonly span: Span
}

/** The services that a build names as contexts (`additional_contexts: {NAME: service:x}`). */
export function contextsOfBuild(build: MapTree): readonly UsedService[] {
  const contexts = get(build, 'additional_contexts')
  if (!isMap(contexts)) return []
  return [...contexts.entries.values()].flatMap(({ value }) => {
    const text = value.kind === 'scalar' ? scalarText(value) : ''
    return text.startsWith('service:') ? [{ name: text.slice('service:'.length), span: value.span }] : []
  })
}

/** The services whose images the build of a service uses: as contexts, or named in its Dockerfile. */
export function usedByBuild(
  name: string,
  services: ReadonlyMap<string, Entry>,
  baseImages: BaseImagesOf,
): readonly UsedService[] {
  const build = get(services.get(name)?.value, 'build')
  if (!isMap(build)) return []
  return [...contextsOfBuild(build), ...baseImages(name).map(({ service, span }) => ({ name: service, span }))]
}

/**
 * The services of `all` that builds of `services` use, directly or not, without `services`: their
 * profiles need not be active, since only their images are needed.
 */
export function findContextServices(
  all: MapTree,
  services: MapTree,
  baseImages: BaseImagesOf,
): ReadonlyMap<string, Entry> {
  const found = new Map<string, Entry>()
  const queue = [...services.entries.keys()]
  for (let next = queue.pop(); next !== undefined; next = queue.pop())
    for (const { name } of usedByBuild(next, all.entries, baseImages)) {
      const used = all.entries.get(name)
      if (!used || found.has(name) || services.entries.has(name)) continue
      found.set(name, used)
      queue.push(name)
    }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}
