import { ANY_PLACE, splitRegistry } from './registry-access.ts'

/** The fields of a build request that builders of the platform accept; all others are dropped. */
export interface BuildRequest {
  readonly Ref?: string
  readonly Exporter?: string
  readonly ExporterAttrs?: Attributes
  readonly Session?: string
  readonly Frontend?: string
  readonly FrontendAttrs?: Attributes
  readonly Cache?: { readonly Exports?: readonly Entry[]; readonly Imports?: readonly Entry[] }
  readonly Entitlements?: readonly string[]
  readonly SourcePolicy?: SourcePolicy
  readonly Exporters?: readonly Entry[]
}

/** Rules about the sources of a build. If several rules match a source, the last one applies. */
interface SourcePolicy {
  readonly version: number
  readonly rules: readonly {
    readonly action: number
    readonly selector: { readonly identifier: string; readonly match_type: number }
  }[]
}
const ALLOW = 0
const DENY = 1
/** Match type of a selector that is a Go regular expression. */
const BY_PATTERN = 2

type Attributes = Readonly<Record<string, string>>

interface Entry {
  readonly Type?: string
  readonly Attrs?: Attributes
}

/** The namespace that a build belongs to, its cache, and the registry path that it may push to. */
export interface BuildScope {
  readonly namespace: string
  /** Key of the cache. Builds with different keys share no steps, cache mounts or copied contexts. */
  readonly cache: string
  /**
   * The platform's own registry, and the path of the namespace in this registry, with which the names of the
   * namespace's images begin.
   */
  readonly images?: { readonly registry: string; readonly place: string }
}

/** The namespace paths in the platform's registry from which a caller may pull images. */
export type Pulls = readonly string[]

/** The built-in frontend for Dockerfiles. */
const FRONTEND = 'dockerfile.v0'

/**
 * Attributes of https://github.com/moby/buildkit/blob/master/frontend/dockerui/config.go that only affect the build
 * itself. Other attributes choose a frontend, a cgroup, or another user's session.
 */
const ATTRIBUTE =
  /^(?:filename|context|dockerfilekey|target|platform|no-cache|image-resolve-mode|force-network-mode|add-hosts|shm-size|ulimit|attest:(?:provenance|sbom)|(?:context|build-arg|label):.+)$/

/**
 * Build arguments that configure the frontend. Builds must not contain them, because the platform sets these values
 * itself.
 */
const OWN_ARGUMENT = /^build-arg:BUILDKIT_(?:SYNTAX|SANDBOX_HOSTNAME|CACHE_MOUNT_NS)$/i

/** The allowed exporters and their options, namely those that devctl uses. */
const EXPORTERS: Readonly<Record<string, ReadonlySet<string>>> = {
  image: new Set(['name', 'push', 'oci-mediatypes']),
  docker: new Set(['name']),
  oci: new Set(['name', 'tar']),
}

/**
 * Attributes that a build has to set for a cache, by type of cache. Without them, the builder would use its own
 * credentials.
 */
const OWN_LOGIN: Readonly<Record<string, readonly string[]>> = {
  registry: [],
  local: [],
  inline: [],
  gha: ['token'],
  s3: ['access_key_id', 'secret_access_key'],
}

/**
 * Returns the reason why a build is refused, in words; undefined if it is allowed. Only Dockerfiles are built, because
 * a custom graph of steps, or a frontend from an image, could refer to the cache mounts of other namespaces.
 */
export function buildProblem(request: BuildRequest, scope: BuildScope): string | undefined {
  if (request.Frontend !== FRONTEND) return `only Dockerfiles are built (the frontend \`${FRONTEND}\`)`
  if ((request.Entitlements ?? []).length > 0)
    return `builds get no entitlements: \`${request.Entitlements!.join('`, `')}\` is refused`
  const attributes = request.FrontendAttrs ?? {}
  const argument = Object.keys(attributes).find(key => OWN_ARGUMENT.test(key))
  if (argument !== undefined) return `the platform itself sets \`${argument.replace('build-arg:', '')}\``
  const attribute = Object.keys(attributes).find(key => key !== 'cache-imports' && !ATTRIBUTE.test(key))
  if (attribute !== undefined) return `the attribute \`${attribute}\` is not allowed`
  const network = attributes['force-network-mode'] ?? 'none'
  if (!['none', 'sandbox', 'default'].includes(network)) return `builds have no network \`${network}\``
  if ((request.Cache?.Imports ?? []).length > 0 || (attributes['cache-imports'] ?? '[]') !== '[]')
    return 'caches cannot be imported: BuildKit would use their steps for all namespaces'
  return (
    firstOf(request.Cache?.Exports, cacheProblem) ?? firstOf(exportersOf(request), one => exportProblem(one, scope))
  )
}

/** Returns the exporters. Older clients send a single exporter, in separate fields. */
const exportersOf = ({ Exporters = [], Exporter = '', ExporterAttrs = {} }: BuildRequest): readonly Entry[] =>
  Exporters.length > 0 || Exporter === '' ? Exporters : [{ Type: Exporter, Attrs: ExporterAttrs }]

function firstOf(entries: readonly Entry[] = [], problemOf: (one: Entry) => string | undefined): string | undefined {
  return entries.map(problemOf).find(one => one !== undefined)
}

function cacheProblem({ Type = '', Attrs = {} }: Entry): string | undefined {
  if (!Object.hasOwn(OWN_LOGIN, Type)) return `caches of the type \`${Type}\` are not written`
  const missing = OWN_LOGIN[Type]!.find(key => !Attrs[key])
  if (missing !== undefined)
    return `the cache of the type \`${Type}\` has no \`${missing}\`: builders have no login of their own`
  return 'registry.insecure' in Attrs ? '`registry.insecure` is not allowed' : undefined
}

function exportProblem({ Type = '', Attrs = {} }: Entry, scope: BuildScope): string | undefined {
  const allowed = Object.hasOwn(EXPORTERS, Type) ? EXPORTERS[Type]! : undefined
  if (!allowed) return `results of the type \`${Type}\` are not exported`
  const attribute = Object.keys(Attrs).find(key => !allowed.has(key))
  if (attribute !== undefined) return `the attribute \`${attribute}\` of the result is not allowed`
  // An image that stays in the builder would be useless, or usable by every namespace.
  if (Type === 'image' && Attrs['push'] !== 'true') return 'images have to be pushed'
  return (Attrs['name'] ?? '')
    .split(',')
    .map(name => nameProblem(name, scope))
    .find(one => one !== undefined)
}

function nameProblem(name: string, { images, namespace }: BuildScope): string | undefined {
  if (!images || !name.startsWith(`${images.registry}/`)) return undefined
  const own = `${images.registry}/${images.place}/`
  if (name.startsWith(own)) return undefined
  return `\`${name}\` is not an image of the namespace \`${namespace}\`: write \`${own}…\``
}

/**
 * Returns the request that is sent to the builder: the allowed fields, restricted to the scope of the build.
 *
 * The cache key of a step contains neither the values of its secrets nor the cache mounts that it used, so a step of
 * one namespace could be reused for the same step of another. The key does contain the host name of the step, so each
 * scope has a different host name. `cmdline` prevents a `# syntax=` line from replacing the frontend.
 *
 * A builder serves a cached image to every caller. The source policy of the request therefore denies all images of
 * namespaces in the platform's registry, except those that the caller may pull.
 */
export function scopedBuild(
  { Frontend, FrontendAttrs, Cache, ...request }: BuildRequest,
  ids: { readonly ref: string; readonly session: string },
  { cache, images }: BuildScope,
  pulls: Pulls,
): BuildRequest {
  const { 'cache-imports': _, ...attributes } = FrontendAttrs ?? {}
  const exporters = exportersOf(request)
  return {
    Ref: ids.ref,
    Session: ids.session,
    Frontend: FRONTEND,
    FrontendAttrs: {
      ...attributes,
      'build-arg:BUILDKIT_CACHE_MOUNT_NS': cache,
      hostname: `b-${cache}`.slice(0, 63),
      cmdline: FRONTEND,
    },
    ...(Cache?.Exports && { Cache: { Exports: Cache.Exports } }),
    ...(images && { SourcePolicy: imagePolicy(images.registry, pulls) }),
    ...(exporters.length > 0 && { Exporters: exporters }),
  }
}

function imagePolicy(registry: string, pulls: Pulls): SourcePolicy {
  const { host, prefix } = splitRegistry(registry)
  const [name = '', port] = host.split(':')
  // Port 443 may be omitted.
  const ports = port === undefined || port === '443' ? '(?::443)?' : `:${port}`
  // The host in a reference may have upper-case letters.
  const all = `^docker-image://(?i:${quoted(name)})${ports}/${quoted(prefix)}`
  const rule = (action: number, identifier: string) => ({ action, selector: { identifier, match_type: BY_PATTERN } })
  return {
    version: 1,
    rules: [rule(DENY, `${all}${ANY_PLACE}/`), ...pulls.map(place => rule(ALLOW, `${all}${quoted(place)}/`))],
  }
}

const quoted = (text: string): string => text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')
