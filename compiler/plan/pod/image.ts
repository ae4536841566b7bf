import { relative, resolve } from 'node:path/posix'
import type { Build, Service } from '../../compose/project.ts'
import { mayRead } from '../../compose/read/storage/outside-files.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { didYouMean } from '../../diagnostics/suggest.ts'
import type { At } from '../../text/source.ts'
import { isOfficialImage, isPinned, withDefaultTag } from '../../values/images/image-reference.ts'
import type { PlanContext } from '../context.ts'
import type { ContainerPlan } from '../plan.ts'
import { contextService, hashOfBuild } from './build-input.ts'

/** Diagnostic for a build context that is not a folder. */
export const noContext = diagnostic({
  code: 'build/context-not-found',
  severity: 'error',
  explain: `The tag of an image with \`build\` is a hash of everything that the build reads, so the tag changes only if the source does. The build context does not exist or is not a folder. Paths are relative to the Compose file.

With \`--image\` devctl does not read the folder, and with \`--tag\` only a build does.`,
  text: (p: { context: string; isBuild: boolean }) => ({
    message: `the build context \`${p.context}\` is not a folder`,
    hint: p.isBuild ? 'correct the path' : 'correct the path, or use `--tag` or `--image`',
  }),
})

const noDockerfile = diagnostic({
  code: 'build/dockerfile-not-found',
  severity: 'error',
  explain:
    'The Dockerfile does not exist. `dockerfile` is relative to the build context; the default is `Dockerfile` in the context, or `dockerfile` where only that exists. With `--tag` or `--image` devctl does not read it.',
  text: (p: { dockerfile: string }) => ({
    message: `the Dockerfile \`${p.dockerfile}\` does not exist`,
    hint: 'set `dockerfile` to its path in the build context',
  }),
})

/** Placeholder for the registry in manifests until the user sets one. */
const placeholderRegistry = 'registry.local.devctl'

const noRegistry = diagnostic({
  code: 'image/no-registry',
  severity: 'warning',
  explain: `The service has \`build\` and no \`image\`, so its image needs a registry that the cluster can pull from. Without one the manifests use the placeholder \`registry.local.devctl\`, which does not exist.

\`\`\`sh
devctl render --registry registry.example.com/team
devctl render --image web=registry.example.com/team/web:1.4
\`\`\``,
  text: (p: { service: string }) => ({
    message: `no registry is set for the image of \`${p.service}\`; the placeholder \`${placeholderRegistry}\` is used`,
    hint: 'add `--registry`, or `image:` to the service',
  }),
})

const pullInterval = diagnostic({
  code: 'image/pull-interval',
  severity: 'warning',
  loss: true,
  explain:
    'With `refresh`, `daily`, `weekly` and `every_…` the container engine pulls again after some time. Kubernetes pulls only when a Pod starts. The policy becomes `IfNotPresent`. To get newer images, use a digest or a tag that changes.',
  text: (p: { policy: string }) => ({
    message: `\`pull_policy: ${p.policy}\` has no equivalent; the image is pulled when a node does not have it`,
    hint: 'use `always`, or a tag that changes',
  }),
})

const unknownImageOption = diagnostic({
  code: 'image/unknown-service',
  severity: 'warning',
  explain:
    '`--image SERVICE=REFERENCE` and `--images-file` set the images of services in the Compose file. The project has no service with this name, so the image has no effect.',
  text: (p: { service: string }) => ({
    message: `\`--image\` or \`--images-file\` names the service \`${p.service}\`, which does not exist`,
  }),
})

const unknownInManifest = diagnostic({
  code: 'manifest/unknown-service',
  severity: 'error',
  explain:
    '`images` of an environment sets the image of a service that the Compose files do not define. The name must match a key of `services` exactly.',
  text: (p: { service: string; hint: string | undefined }) => ({
    message: `\`images\` names the service \`${p.service}\`, which does not exist`,
    hint: p.hint,
  }),
})

const pinnedImage = diagnostic({
  code: 'build/pinned-image',
  severity: 'warning',
  explain: `The service has \`build\`, and its \`image\` has a digest, which names one image that already exists. Nothing can be pushed to a digest, so the image is used, and nothing is built.

\`\`\`yaml
image: registry.example.com/web:1.4
build: .
\`\`\``,
  text: (p: { service: string }) => ({
    message: `\`image\` has a digest, so the \`build\` of \`${p.service}\` has no effect`,
    hint: 'remove the digest to build the image, or `build` to use the image that exists',
  }),
})

/**
 * Warning for an image to build that has the name of an official Docker Hub image. It is an error if the image would be
 * pushed.
 */
export const officialName = diagnostic({
  code: 'image/official-name',
  severity: 'warning',
  explain: `An image without a registry and a namespace, such as \`web:1.4\`, is an official image of Docker Hub (\`docker.io/library/web:1.4\`). Nobody else can push images of that kind. A container engine keeps the image that it builds on its own machine, so the name works there; a cluster has to pull it. \`build\` and \`deploy\` refuse to build such an image; other commands warn of it.

\`\`\`yaml
services:
  web:
    build: .
    image: registry.example.com/team/web:1.4    # or no \`image\`: --registry and the name of the service
\`\`\`

For an image that is loaded onto the nodes, for example with \`kind load docker-image\`, write \`pull_policy: never\`, and name it: with \`deploy --image web=web:1.4\` nothing is built, and nodes do not pull it.`,
  text: ({ service, image, isTag }: { readonly service: string; readonly image: string; readonly isTag: boolean }) => ({
    message: `the image of \`${service}\` cannot be pushed as \`${image}\`, the name of an official image of Docker Hub`,
    hint: isTag
      ? `write \`REGISTRY/${image}\` under \`tags\``
      : `write \`image: REGISTRY/${image}\`, or remove \`image\` and add \`--registry\``,
  }),
})

/** Returns the image of a service and its pull policy. */
export function planImage(context: PlanContext, service: Service): Pick<ContainerPlan, 'image' | 'imagePullPolicy'> {
  if (service.build && service.image && isPinned(service.image.value))
    context.reporter.report(pinnedImage, service.image.span, { service: service.name })
  const given = context.options.images?.get(service.name) ?? sharedImage(context, service)
  if (given === undefined) checkName(context, service)
  const image = given ?? service.image?.value ?? builtImage(context, service)
  return { image, imagePullPolicy: planPullPolicy(context, service, image) }
}

/**
 * Reports an image name under which a built image could not be pushed. Does nothing in commands that build images,
 * because the builder reports these names itself.
 */
function checkName({ options, reporter }: PlanContext, { name, build, image }: Service): void {
  if (!build || !image || options.forBuild || isPinned(image.value)) return
  const found = [image, ...build.tags].find(({ value }) => isOfficialImage(value))
  if (found) reporter.report(officialName, found.span, { service: name, image: found.value, isTag: found !== image })
}

/**
 * Returns the image that an option sets, with its digest, for a service that has a `build` and the same `image` as the
 * given service. For example, a `worker` with the image of `web` then runs the image that was built for `web`. Returns
 * undefined if the given service has a `build` itself.
 */
function sharedImage(context: PlanContext, { image, build }: Service): string | undefined {
  if (!image || build || !context.options.images?.size) return undefined
  const known = pinnedImages.get(context) ?? pinnedByName(context)
  pinnedImages.set(context, known)
  return known.get(withDefaultTag(image.value))
}

const pinnedImages = new WeakMap<PlanContext, ReadonlyMap<string, string>>()

/**
 * Returns the images that options set with digests for services with `build`. The keys are image names. Includes an
 * image only if it has the same name as the `image` of its service.
 */
function pinnedByName({ project, options }: PlanContext): ReadonlyMap<string, string> {
  const pinned = [...options.images!].flatMap(([name, given]) => {
    const { build, image } = project.services.get(name) ?? {}
    const [tagged = '', digest] = given.split('@')
    if (!build || !image || digest === undefined) return []
    const own = withDefaultTag(image.value)
    return withDefaultTag(tagged) === own ? [[own, given] as const] : []
  })
  return new Map(pinned)
}

/** Reports images that options set for services that do not exist. */
export function checkImageOptions({ options, project, reporter }: PlanContext): void {
  for (const service of options.images?.keys() ?? []) {
    if (project.services.has(service) || project.absentServices.has(service)) continue
    const place = options.imagePlaces?.get(service)
    if (place)
      reporter.report(unknownInManifest, place, { service, hint: didYouMean(service, project.services.keys()) })
    else reporter.report(unknownImageOption, undefined, { service })
  }
}

function builtImage(context: PlanContext, service: Service): string {
  // The reader reports a service with neither image nor build.
  if (!service.build) return ''
  if (!context.options.registry) context.reporter.report(noRegistry, service.build.span, { service: service.name })
  return imageOfBuild(context, service, context.names.of(service.name))
}

/**
 * Returns the name of the image that a service's `build` creates, with a tag that changes with the build input. Reports
 * missing files that the build needs.
 */
export function imageOfBuild(context: PlanContext, service: Service, name: string): string {
  const { options, environment } = context
  const registry = (options.registry ?? placeholderRegistry).replace(/\/+$/, '')
  if (options.tag === undefined) checkBuildFiles(context, service, new Set())
  const tag = options.tag ?? hashOfBuild(context, service).slice(0, 12)
  return `${registry}/${environment.name}-${name}:${tag}`
}

/**
 * Checks the existence of the files that determine the tag's hash, including the files of other services' images that
 * the build uses. Skips contexts that are URLs, which are read during the build.
 */
function checkBuildFiles(context: PlanContext, { name, build }: Service, checked: Set<string>): void {
  if (!build || checked.has(name)) return
  checked.add(name)
  if (checkFolder(context, build.context)) checkDockerfile(context, build)
  for (const one of build.additionalContexts) {
    if ('folder' in one) checkFolder(context, { value: one.folder, span: one.span })
    const used = one.service === undefined ? undefined : contextService(context.project, one.service)
    if (used && !context.options.images?.has(used.name)) checkBuildFiles(context, used, checked)
  }
}

/** Returns true if a folder exists; reports a missing folder, and one that devctl may not read. */
function checkFolder({ host, project, reporter, options }: PlanContext, { value: folder, span }: At<string>): boolean {
  if (!folder.startsWith('/')) return false
  if (host.stat(folder)?.kind === 'folder') {
    mayRead(host, folder, span, reporter)
    return true
  }
  reporter.report(noContext, span, {
    context: relative(project.directory, folder) || '.',
    isBuild: options.forBuild === 'build',
  })
  return false
}

function checkDockerfile({ host, project, reporter }: PlanContext, build: Build): void {
  if (build.dockerfileInline || !build.dockerfile) return
  const file = resolve(build.context.value, build.dockerfile.value)
  if (host.stat(file)?.kind !== 'file')
    reporter.report(noDockerfile, build.dockerfile.span, { dockerfile: relative(project.directory, file) })
}

function planPullPolicy(context: PlanContext, service: Service, image: string): ContainerPlan['imagePullPolicy'] {
  const policy = service.pullPolicy
  switch (policy?.value) {
    case undefined:
      return defaultPullPolicy(image)
    case 'always':
      return 'Always'
    case 'never':
      return isBuilt(context, service) ? 'IfNotPresent' : 'Never'
    case 'missing':
    case 'if_not_present':
    case 'build':
      return 'IfNotPresent'
  }
  // The schema allows only one other kind of value: intervals after which an engine pulls again.
  context.reporter.report(pullInterval, policy!.span, { policy: policy!.value })
  return 'IfNotPresent'
}

/**
 * Returns true if a build creates the image of a service: its own build, or the build of a service with the same image.
 * As in Compose, `pull_policy: never` means for such a service that the image is built. Nodes still pull the image from
 * the registry that it was pushed to.
 */
function isBuilt({ project, options }: PlanContext, { name, image, build }: Service): boolean {
  const isMade = (one: Pick<Service, 'name' | 'image' | 'build'>): boolean =>
    one.build !== undefined && !one.image?.value.includes('@') && (options.images?.get(one.name)?.includes('@') ?? true)
  if (build || !image) return isMade({ name, image, build })
  if (options.images?.has(name)) return false
  const reference = withDefaultTag(image.value)
  return [...project.services.values()].some(
    one => one.image && withDefaultTag(one.image.value) === reference && isMade(one),
  )
}

/**
 * Returns Kubernetes' default pull policy:
 * https://kubernetes.io/docs/concepts/containers/images/#imagepullpolicy-defaulting
 */
function defaultPullPolicy(image: string): ContainerPlan['imagePullPolicy'] {
  if (isPinned(image)) return 'IfNotPresent'
  const tag = /:([^:/]+)$/.exec(image)?.[1] ?? 'latest'
  return tag === 'latest' ? 'Always' : 'IfNotPresent'
}
