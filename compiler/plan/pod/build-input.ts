import { relative } from 'node:path/posix'
import type { Build, NamedContext, Project, Service } from '../../compose/project.ts'
import type { BuildInput, SpendOnBuild } from '../../host.ts'
import { HIDDEN } from '../../text/secret-places.ts'
import type { Span } from '../../text/source.ts'
import { shortHash } from '../../values/dns-name.ts'
import { withoutLogin } from '../../values/images/build-context.ts'
import { isVariableWithSecret } from '../../values/secrets/secret-names.ts'
import { type PlanContext, sortBy } from '../context.ts'

/**
 * Returns a hash of everything that affects the content of a service's image, for use as a tag: the files of its
 * contexts, its Dockerfile, target and arguments, and the settings that `settingsOf` returns. An image of another
 * service contributes its own hash, or its reference if an option sets one.
 */
export function hashOfBuild(context: PlanContext, service: Service): string {
  const known = hashes.get(context) ?? new Map<string, string>()
  hashes.set(context, known)
  const found = known.get(service.name)
  if (found !== undefined) return found
  // Images of a cycle, which has been reported, are hashed without each other.
  known.set(service.name, '')
  const hash = hashInput(context, service)
  known.set(service.name, hash)
  return hash
}

const hashes = new WeakMap<PlanContext, Map<string, string>>()

/** Returns the service whose image a build uses; undefined if the service does not exist or is invalid. */
export const contextService = ({ services, contextServices }: Project, name: string): Service | undefined =>
  services.get(name) ?? contextServices.get(name)

function hashInput(context: PlanContext, service: Service): string {
  const build = service.build!
  const spend: SpendOnBuild = (limit, amount) => context.reporter.budget.spend(limit, amount, build.context.span)
  const input = inputOf(context, service, build, spend)
  return context.host.hashBuild(input, spend) ?? hashOfText(context.project, build, input)
}

function inputOf(context: PlanContext, service: Service, build: Build, spend: SpendOnBuild): BuildInput {
  const open = withoutSecrets(context.project)
  const { dockerfile, dockerfileInline, target, args } = build
  const settings = [...contextsOf(context, build, spend), ...settingsOf(service, build, open)]
  return {
    context: build.context.value,
    dockerfile: dockerfile?.value,
    dockerfileInline: dockerfileInline && open(dockerfileInline.value, dockerfileInline.span),
    target: target && open(target.value, target.span),
    args: args.map(({ name, value, span }) => [name, isVariableWithSecret(name, value) ? HIDDEN : open(value, span)]),
    ...(settings.length > 0 && { settings }),
  }
}

type Setting = readonly string[]

function contextsOf(context: PlanContext, { additionalContexts }: Build, spend: SpendOnBuild): readonly Setting[] {
  return sortBy(additionalContexts, ({ name }) => name).map(one => [
    'context',
    one.name,
    contentOf(context, one, spend),
  ])
}

/**
 * Returns a text that identifies the content of an additional context: a hash, an image reference or an address.
 * Fetches nothing.
 */
function contentOf(context: PlanContext, named: NamedContext, spend: SpendOnBuild): string {
  const { project, host, options } = context
  if (named.service !== undefined) {
    const given = options.images?.get(named.service)
    const service = contextService(project, named.service)
    return given ?? (service?.build ? hashOfBuild(context, service) : '')
  }
  if ('remote' in named) return withoutLogin(withoutSecrets(project)(named.remote, named.span))
  return host.hashBuild({ context: named.folder, dockerfileInline: '', args: [] }, spend) ?? 'missing'
}

/**
 * Returns the settings, besides the files and arguments, that affect the image: its labels, platforms and attestations,
 * and the ids of the secrets that the build steps may read. `open` removes secrets from a text. Omits settings that
 * affect only how the image is built (`network`, `extra_hosts`, `shm_size`, `ulimits`, `ssh`, `entitlements`,
 * `no_cache`, `pull`, the caches), and `tags`, which are only names.
 */
function settingsOf(service: Service, build: Build, open: Open): readonly Setting[] {
  const { labels, secrets, provenance, sbom } = build
  const platforms = build.platforms.length > 0 ? build.platforms : [service.platform].flatMap(one => one ?? [])
  return [
    ...labels.map(({ name, value, span }) => ['label', name, open(value, span)]),
    ...platforms
      .map(({ value }) => value)
      .sort()
      .map(platform => ['platform', platform]),
    ...secrets
      .map(({ id }) => id)
      .sort()
      .map(id => ['secret', id]),
    ...(provenance ? [['provenance', String(provenance.value)]] : []),
    ...(sbom ? [['sbom', String(sbom.value)]] : []),
  ]
}

/**
 * A function that removes the secrets from a text before it is hashed. The hash becomes a tag that everyone can see,
 * and a secret with few possible values could be guessed from it.
 */
type Open = (text: string, span: Span) => string

const withoutSecrets =
  ({ secretPlaces }: Project): Open =>
  (text, span) =>
    secretPlaces.without(text, span)

/** Returns the hash of a build's settings in the file, for a context that is not a folder on this machine. */
function hashOfText(project: Project, { context: { value, span } }: Build, input: BuildInput): string {
  // A relative path is the same on every machine, wherever the project is checked out.
  const place = value.startsWith('/') ? relative(project.directory, value) : value
  return shortHash(JSON.stringify({ ...input, context: withoutLogin(withoutSecrets(project)(place, span)) }), 64)
}
