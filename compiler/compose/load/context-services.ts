import type { Span } from '../../text/source.ts'
import { type Entry, get, isMap, type MapTree } from '../../text/tree.ts'
import { scalarText } from '../../text/tree-text.ts'

/** A service image that another service's Dockerfile names in `FROM`, `COPY --from=` or `RUN --mount=from=`. */
export interface BaseImage {
  readonly service: string
  /** The name of the image in the form that BuildKit uses to look up a context. */
  readonly image: string
  /** Position in the Compose file at which the Dockerfile is named. */
  readonly span: Span
}

/** Returns the images of other services that the Dockerfile of a service names. */
export type BaseImagesOf = (service: string) => readonly BaseImage[]

/** A service whose image a build uses. */
export interface UsedService {
  readonly name: string
  readonly span: Span
}

/** Returns the services that a build names as contexts (`additional_contexts: {NAME: service:x}`). */
export function contextsOfBuild(build: MapTree): readonly UsedService[] {
  const contexts = get(build, 'additional_contexts')
  if (!isMap(contexts)) return []
  return [...contexts.entries.values()].flatMap(({ value }) => {
    const text = value.kind === 'scalar' ? scalarText(value) : ''
    return text.startsWith('service:') ? [{ name: text.slice('service:'.length), span: value.span }] : []
  })
}

/** Returns the services whose images the build of a service uses, as contexts or in its Dockerfile. */
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
 * Returns the services of `all` whose images the builds of `services` use, directly or indirectly, except the services
 * in `services`. The profiles of the returned services need not be active, because only their images are needed.
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
