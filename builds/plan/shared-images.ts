import { withDefaultTag } from '../../compiler/values/images/image-reference.ts'

/**
 * Returns the references of the services' images with their digests, by service. Includes services that use the image
 * of another service by its name: for example, a `worker` whose image has the same name as the image of `web` runs the
 * image that was built for `web`. `images` contains the name of each service's image.
 */
export function withSharers(
  images: ReadonlyMap<string, string>,
  digests: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const byName = new Map(
    [...digests].flatMap(([service, reference]) => {
      const name = images.get(service)
      return name === undefined ? [] : [[withDefaultTag(name), reference] as const]
    }),
  )
  const shared = [...images].flatMap(([service, name]) => {
    const reference = digests.get(service) ?? byName.get(withDefaultTag(name))
    return reference === undefined ? [] : [[service, reference] as const]
  })
  return new Map(shared)
}

/**
 * Returns all services whose image has the same name as the image of a service in `services`, including the services in
 * `services`. Only one service may build an image of that name.
 */
export function sharersOf(images: ReadonlyMap<string, string>, services: readonly string[]): readonly string[] {
  const names = new Set(services.flatMap(service => images.get(service) ?? []).map(withDefaultTag))
  return [...images].flatMap(([service, name]) => (names.has(withDefaultTag(name)) ? [service] : []))
}
