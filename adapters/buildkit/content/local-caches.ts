import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { BuildCache } from '../../../compiler/values/images/build-cache.ts'
import { parseJson } from '../../json/parse-json.ts'
import type { ImageInput } from '../builder.ts'
import { BuilderError } from '../failure.ts'
import { type BlobStore, blobSize } from './blob-store.ts'
import { putManifest, taggedDigest } from './layout-index.ts'
import { layoutManifest } from './layout-index.validators.ts'

/** The caches of a build in the form that the builder accepts, and the folders of the caches on this machine. */
export interface OpenCaches extends Pick<ImageInput, 'cacheFrom' | 'cacheTo'> {
  /** Stores of the local caches, by BuildKit's names for them. */
  readonly stores: ReadonlyMap<string, BlobStore>
  /** A warning with the reason for each cache that should be imported, but is skipped. */
  readonly warnings: readonly string[]
  /**
   * Tags the manifest of the exported cache. `response` is the response of the builder, which contains the manifest;
   * without a manifest, does nothing.
   */
  readonly finish: (response: Readonly<Record<string, string>>) => Promise<void>
}

const DEFAULT_TAG = 'latest'

/**
 * Prepares the caches of the type `local` (https://docs.docker.com/build/cache/backends/local/): folders in the OCI
 * image layout, which BuildKit reads and writes over the session. If a cache to import is missing, as in the first
 * build of a pipeline, skips that cache and returns a warning.
 */
export async function openCaches({
  cacheFrom,
  cacheTo,
}: Pick<ImageInput, 'cacheFrom' | 'cacheTo'>): Promise<OpenCaches> {
  const imports = await Promise.all(cacheFrom.map(openImport))
  const used = imports.flatMap(one => ('cache' in one ? one.cache : []))
  const exported = cacheTo.filter(isLocal)
  return {
    cacheFrom: used,
    cacheTo,
    stores: new Map([
      ...used.filter(isLocal).map(({ attributes: { src = '' } }) => store(src, false)),
      ...exported.map(({ attributes: { dest = '' } }) => store(dest, true)),
    ]),
    warnings: imports.flatMap(one => ('warning' in one ? one.warning : [])),
    finish: async response => {
      const manifest = response['cache.manifest']
      if (manifest === undefined) return
      for (const { attributes } of exported) await nameManifest(manifest, attributes)
    },
  }
}

const isLocal = ({ type }: BuildCache): boolean => type === 'local'

const store = (folder: string, isWritable: boolean): readonly [string, BlobStore] => [
  `local:${folder}`,
  { folder, isWritable },
]

type Import = { readonly cache: BuildCache } | { readonly warning: string }

async function openImport(cache: BuildCache): Promise<Import> {
  if (!isLocal(cache)) return { cache }
  const { src = '', tag = DEFAULT_TAG } = cache.attributes
  try {
    const digest = cache.attributes['digest'] ?? (await taggedDigest(src, tag))
    if (digest === undefined) return { warning: `there is no cache \`${tag}\` in \`${src}\`` }
    const isThere = (await blobSize({ folder: src, isWritable: false }, digest)) !== undefined
    if (!isThere) return { warning: `the cache in \`${src}\` has no manifest \`${digest}\`` }
    return { cache: { ...cache, attributes: { ...cache.attributes, digest } } }
  } catch (error) {
    if (error instanceof UserError) return { warning: error.message }
    throw error
  }
}

const digestProblem = (digest: string): string | undefined =>
  /^sha256:[0-9a-f]{64}$/.test(digest) ? undefined : `\`${digest.slice(0, 100)}\` is not a digest`

async function nameManifest(text: string, { dest = '', tag = DEFAULT_TAG }: BuildCache['attributes']): Promise<void> {
  const manifest = parseJson(text, layoutManifest)
  const problem = manifest.ok ? digestProblem(manifest.value.digest) : manifest.problem
  if (!manifest.ok || problem !== undefined)
    throw new BuilderError('refused', `the builder described the cache in \`${dest}\` wrongly: ${problem}`)
  await putManifest(dest, manifest.value, tag)
}
