import type { BuildCache } from './build-cache.ts'
import type { BuildContext, ContextSource } from './build-context.ts'

/**
 * The input of an image build: the common form of a service's `build` and of an entry of the
 * manifest's `build`. Paths are absolute, nothing is read yet.
 */
export interface BuildSpec {
  readonly context: ContextSource
  readonly dockerfile: DockerfileSource
  /** Additional contexts by name. Services are built before. */
  readonly contexts: ReadonlyMap<string, BuildContext>
  /** The services, or the entries of the manifest's `build`, to build before this one. */
  readonly dependsOn: readonly string[]
  readonly target?: string
  readonly args: ReadonlyMap<string, string>
  readonly labels: ReadonlyMap<string, string>
  /** Empty: that of the builder. */
  readonly platforms: readonly string[]
  /** True for all stages, or the names of some. */
  readonly noCache: boolean | readonly string[]
  readonly pull: boolean
  readonly network?: 'host' | 'none'
  readonly extraHosts: readonly { readonly host: string; readonly address: string }[]
  /** Size in bytes. */
  readonly shmSize?: number
  readonly ulimits: readonly { readonly name: string; readonly soft: number; readonly hard: number }[]
  readonly entitlements: readonly string[]
  /** The parameters of an attestation, or false for none; absent: as the builder does. */
  readonly provenance?: string | false
  readonly sbom?: string | false
  readonly cacheFrom: readonly BuildCache[]
  readonly cacheTo: readonly BuildCache[]
  /** Images that the cache is also written to: see `withExportedCache`. */
  readonly exportCache: readonly string[]
  readonly secrets: ReadonlyMap<string, BuildSecretSource>
  /** Keys and sockets by id; none: the agent. */
  readonly ssh: ReadonlyMap<string, readonly string[]>
}

/** The settings of a build that sets none: everything empty, and the builder's own platform. */
export const PLAIN_BUILD: Omit<BuildSpec, 'context' | 'dockerfile'> = {
  contexts: new Map(),
  dependsOn: [],
  args: new Map(),
  labels: new Map(),
  platforms: [],
  noCache: false,
  pull: false,
  extraHosts: [],
  ulimits: [],
  entitlements: [],
  cacheFrom: [],
  cacheTo: [],
  exportCache: [],
  secrets: new Map(),
  ssh: new Map(),
}

/** A file, or for a remote context a path in it; or the text of a Dockerfile. */
export type DockerfileSource = { readonly path: string } | { readonly text: string }

/** Source of a secret of a build. A file is read when the build asks for it. */
export type BuildSecretSource = { readonly file: string } | { readonly value: string }

/**
 * The caches that a build exports, with those of `export_cache`: with all layers (`mode=max`), and
 * inside of the image where the cache has the name of the image.
 */
export function withExportedCache(
  { cacheTo, exportCache }: Pick<BuildSpec, 'cacheTo' | 'exportCache'>,
  names: readonly string[],
): readonly BuildCache[] {
  const exported = exportCache.map(
    (ref): BuildCache =>
      names.includes(ref) ? { type: 'inline', attributes: {} } : { type: 'registry', attributes: { ref, mode: 'max' } },
  )
  return [...cacheTo, ...exported]
}
