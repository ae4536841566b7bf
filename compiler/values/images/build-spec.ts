import type { BuildCache } from './build-cache.ts'
import type { BuildContext, ContextSource } from './build-context.ts'
import { comparableName } from './image-reference.ts'

/**
 * The input of an image build, for both the `build` of a service and an entry of the manifest's `build`. Paths are
 * absolute, and no file has been read yet.
 */
export interface BuildSpec {
  readonly context: ContextSource
  readonly dockerfile: DockerfileSource
  /** Additional contexts by name. If a context is the image of a service, this image is built first. */
  readonly contexts: ReadonlyMap<string, BuildContext>
  /** The services, or the entries of the manifest's `build`, to build before this one. */
  readonly dependsOn: readonly string[]
  readonly target?: string
  readonly args: ReadonlyMap<string, string>
  readonly labels: ReadonlyMap<string, string>
  /** Target platforms. If empty, the builder's own platform. */
  readonly platforms: readonly string[]
  /** True for all stages, or the names of the stages. */
  readonly noCache: boolean | readonly string[]
  readonly pull: boolean
  readonly network?: 'host' | 'none'
  readonly extraHosts: readonly { readonly host: string; readonly address: string }[]
  /** Size of `/dev/shm` in bytes. */
  readonly shmSize?: number
  readonly ulimits: readonly { readonly name: string; readonly soft: number; readonly hard: number }[]
  readonly entitlements: readonly string[]
  /** Parameters of the attestation, or false for no attestation. If absent, the builder decides. */
  readonly provenance?: string | false
  readonly sbom?: string | false
  readonly cacheFrom: readonly BuildCache[]
  readonly cacheTo: readonly BuildCache[]
  /** References of images for which the build cache is also exported; see `withExportedCache`. */
  readonly exportCache: readonly string[]
  readonly secrets: ReadonlyMap<string, BuildSecretSource>
  /** Keys and sockets by id. An empty list means the SSH agent. */
  readonly ssh: ReadonlyMap<string, readonly string[]>
}

/** Default settings of a build: everything is empty, and the platform is the builder's own. */
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

/** Path of a Dockerfile (for a remote context, a path in the context), or its text. */
export type DockerfileSource = { readonly path: string } | { readonly text: string }

/** Source of a build secret. A file is read when the build requests it. */
export type BuildSecretSource = { readonly file: string } | { readonly value: string }

/** The fields of a build that determine the caches that it exports; see `withExportedCache`. */
export type CacheExport = Pick<BuildSpec, 'cacheTo' | 'exportCache'>

/**
 * Returns the caches that a build exports: `cacheTo`, and one cache for each image of `exportCache`. The cache is
 * inline if the image is also a name of the built image. Otherwise, it has all layers (`mode=max`) and is pushed to a
 * registry.
 */
export function withExportedCache(
  { cacheTo, exportCache }: CacheExport,
  names: readonly string[],
): readonly BuildCache[] {
  const built = new Set(names.map(comparableName))
  const exported = exportCache.map(
    (ref): BuildCache =>
      built.has(comparableName(ref))
        ? { type: 'inline', attributes: {} }
        : { type: 'registry', attributes: { ref, mode: 'max' } },
  )
  return [...cacheTo, ...exported]
}
