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
 * The hash of everything that decides what is in the image of a service, for its tag: the files of
 * its contexts, its Dockerfile, target and arguments, and the settings of `settingsOf`. The image
 * of another service counts with the hash of that one, or with the reference that an option gives.
 */
export function hashOfBuild(context: PlanContext, service: Service): string {
  const known = hashes.get(context) ?? new Map<string, string>()
  hashes.set(context, known)
  const found = known.get(service.name)
  if (found !== undefined) return found
  // In a circle, which was reported, each image counts without the others.
  known.set(service.name, '')
  const hash = hashInput(context, service)
  known.set(service.name, hash)
  return hash
}

const hashes = new WeakMap<PlanContext, Map<string, string>>()

/** The service whose image a build uses; undefined for one that does not exist or is in error. */
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

/** Returns an identifier for the content of an additional context, using only what is known without fetching it. */
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
 * The other settings that change the image: its labels, platforms and attestations, and which
 * secrets its steps may read, by their ids. Left out is what decides how the image is built and not
 * what is in it (`network`, `extra_hosts`, `shm_size`, `ulimits`, `ssh`, `entitlements`, `no_cache`,
 * `pull`, the caches), and `tags`, which are names.
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
 * Removes the secrets from a text: its hash becomes a tag that everyone can see, and a value with few possibilities is
 * quickly guessed from a hash.
 */
type Open = (text: string, span: Span) => string

const withoutSecrets =
  ({ secretPlaces }: Project): Open =>
  (text, span) =>
    secretPlaces.without(text, span)

/** Returns the hash of the settings of a build in the file, for a context that is not a folder on this machine. */
function hashOfText(project: Project, { context: { value, span } }: Build, input: BuildInput): string {
  // The same on every machine, wherever the project lies there.
  const place = value.startsWith('/') ? relative(project.directory, value) : value
  return shortHash(JSON.stringify({ ...input, context: withoutLogin(withoutSecrets(project)(place, span)) }), 64)
}
