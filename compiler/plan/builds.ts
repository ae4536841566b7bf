import { resolve } from 'node:path/posix'
import { keyPaths, mayUseCache } from '../compose/build-files.ts'
import type { Build, Service } from '../compose/project.ts'
import { mayRead } from '../compose/read/storage/outside-files.ts'
import type { CompilerHost } from '../host.ts'
import type { Span } from '../text/source.ts'
import { nameOfContent } from '../values/images/image-reference.ts'
import { type PlanContext, sortBy } from './context.ts'
import { distinctNames, toServiceName } from './object-names.ts'
import type { BuildPlan } from './plan.ts'
import { hashOfBuild } from './pod/build-input.ts'
import { imageOfBuild } from './pod/image.ts'

/**
 * Returns the images to build: images of services with `build`, and of inactive services whose images the builds use.
 * Omits images that an option replaces, and images that are needed only to build the replaced images.
 */
export function planBuilds(context: PlanContext, images: ReadonlyMap<string, string>): readonly BuildPlan[] {
  const { project, options } = context
  const builds = sortBy(project.services.values(), ({ name }) => name).flatMap(service => {
    const image = images.get(service.name)
    return image === undefined ? [] : toBuild(context, service, image)
  })
  const needed = new Set(builds.flatMap(({ dependsOn }) => dependsOn))
  const named = distinctNames([...project.services.keys(), ...project.contextServices.keys()], toServiceName, 63)
  // Iteration over a Set includes items that are added during the loop.
  for (const name of needed) {
    const service = project.contextServices.get(name)
    if (!service || options.images?.has(name)) continue
    const image = service.image?.value ?? imageOfBuild(context, service, named.get(name)!)
    for (const build of toBuild(context, service, image)) {
      builds.push(build)
      for (const one of build.dependsOn) needed.add(one)
    }
  }
  return builds
}

function toBuild(context: PlanContext, service: Service, image: string): readonly BuildPlan[] {
  const { options } = context
  const { name, build } = service
  if (!build || options.images?.has(name)) return []
  const isNamed = service.image !== undefined
  checkOutside(context, build)
  const used = build.additionalContexts.flatMap(one => one.service ?? [])
  return [
    {
      service: name,
      image,
      contentImage: contentImage(context, service, image, isNamed),
      hasRegistry: isNamed || options.registry !== undefined,
      dependsOn: [...new Set(used)].filter(one => !options.images?.has(one)).sort(),
      span: build.span,
    },
  ]
}

function contentImage(context: PlanContext, service: Service, image: string, isNamed: boolean): string | undefined {
  const { tag, forBuild } = context.options
  if (!isNamed && tag === undefined) return image
  const isTaken = forBuild === 'deploy' && (!isNamed || isPulled(service))
  if (isTaken || !hasContext(context, service.build!)) return undefined
  const hash = hashOfBuild(context, service).slice(0, 12)
  return isNamed ? nameOfContent(image, hash) : `${image.slice(0, image.lastIndexOf(':'))}:${hash}`
}

/** Returns true if the build context exists, or is a URL, which only the builder can read. */
const hasContext = ({ host }: PlanContext, { context: { value } }: Build): boolean =>
  !value.startsWith('/') || host.stat(value)?.kind === 'folder'

/**
 * Returns true if a `pull_policy` is set that pulls the image. Such an image is the result of another build. Without
 * `pull_policy`, returns false, because Compose then builds an image that is missing
 * (https://github.com/compose-spec/compose-spec/blob/main/05-services.md#pull_policy).
 */
const isPulled = ({ pullPolicy }: Service): boolean =>
  pullPolicy !== undefined && pullPolicy.value !== 'build' && pullPolicy.value !== 'never'

/**
 * Reports every file outside the project that a build would read or write, even if the file does not affect the tag of
 * the image. Only commands that build images call this function, so `render` does not report secrets, keys and caches.
 */
function checkOutside({ host, reporter, project }: PlanContext, build: Build): void {
  const { context, dockerfile, additionalContexts, secrets, ssh, cacheFrom, cacheTo } = build
  const { value: folder, span } = context
  const check = (path: string, at: Span) => {
    if (path.startsWith('/') && host.stat(path)) mayRead(host, path, at, reporter)
  }
  check(folder, span)
  if (dockerfile && folder.startsWith('/')) check(resolve(folder, dockerfile.value), dockerfile.span)
  for (const one of additionalContexts) if ('folder' in one) check(one.folder, one.span)
  // A later step may create these, so they are checked even if they do not exist yet.
  for (const { source: name, span } of secrets) {
    const source = project.secrets.get(name)?.source
    if (source?.kind === 'file') mayRead(host, source.path.value, span, reporter)
  }
  for (const { path = '', span } of ssh)
    for (const key of keyPaths(path, project)) if (!isAgent(host, key)) mayRead(host, key, span, reporter)
  for (const { value, span } of cacheFrom) mayUseCache(value, 'src', project, { host, reporter, span })
  for (const { value, span } of cacheTo) mayUseCache(value, 'dest', project, { host, reporter, span })
}

/** Returns true if the path is the user's SSH agent: `default=$SSH_AUTH_SOCK` means the same as `default`. */
const isAgent = (host: CompilerHost, path: string): boolean => host.environment.get('SSH_AUTH_SOCK') === path
