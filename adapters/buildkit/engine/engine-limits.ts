import type { ImageInput } from '../builder.ts'

/** The version and the features of a Docker Engine. */
export interface EngineAbilities {
  /** Major version, if the engine reports it. */
  readonly version: number | undefined
  /** True if the engine keeps its images in the containerd image store. */
  readonly hasContainerdStore: boolean
}

/** First major version with named contexts. Older engines mistake the name of a context for the name of an image. */
const NAMED_CONTEXTS = 23
/** First major version that accepts a folder of a repository as context. */
const REPOSITORY_FOLDERS = 23
/** First major version whose BuildKit (0.10) supports `shm_size` and `ulimits`. Older versions ignore both silently. */
const LIMITS_OF_STEPS = 23

/**
 * Returns true if an attestation is requested. An empty text also counts as a request: it stands for `true`, an
 * attestation without settings.
 */
const isAttested = (setting: string | false | undefined): boolean => setting !== undefined && setting !== false

/** Returns true if the input requests something that an engine cannot build without the containerd image store. */
export const dependsOnStore = (input: ImageInput): boolean =>
  input.platforms.length > 1 ||
  input.cacheTo.some(({ type }) => type !== 'inline') ||
  isAttested(input.provenance) ||
  isAttested(input.sbom)

/** Returns the reason why an engine cannot build an image as requested; undefined if it can. */
export function refusalOf(input: ImageInput, { version, hasContainerdStore }: EngineAbilities): string | undefined {
  if (input.contexts.size > 0 && isOlder(version, NAMED_CONTEXTS))
    return `does not know additional contexts: they need Docker ${NAMED_CONTEXTS}.0`
  const { context } = input
  if ('remote' in context && /#[^:]*:./.test(context.remote) && isOlder(version, REPOSITORY_FOLDERS))
    return `does not know a folder of a repository as context: it needs Docker ${REPOSITORY_FOLDERS}.0`
  if (hasContainerdStore) return undefined
  if (input.platforms.length > 1)
    return (
      'cannot hold an image for several platforms: that needs the containerd image store, or a BuildKit of its own; ' +
      'one platform works, for example `--platform linux/amd64`'
    )
  const cache = input.cacheTo.find(({ type }) => type !== 'inline')
  return (
    cache &&
    `cannot export a cache of the type \`${cache.type}\`: that needs the containerd image store, or a BuildKit of its own; ` +
      '`type=inline` works'
  )
}

/**
 * Returns a message for each key of `build` that an engine ignores. The message states what the key needs to have an
 * effect.
 */
export function leftOut(input: ImageInput, { version, hasContainerdStore }: EngineAbilities): readonly string[] {
  const of = (isUsed: boolean, text: string) => (isUsed ? [text] : [])
  const limits = `needs Docker ${LIMITS_OF_STEPS}.0 and has no effect`
  const isLimited = isOlder(version, LIMITS_OF_STEPS)
  const attestations = 'needs the containerd image store and has no effect'
  return [
    ...of(isLimited && input.shmSize !== undefined, `\`shm_size\` ${limits}`),
    ...of(isLimited && input.ulimits.length > 0, `\`ulimits\` ${limits}`),
    ...of(!hasContainerdStore && isAttested(input.provenance), `\`provenance\` ${attestations}`),
    ...of(!hasContainerdStore && isAttested(input.sbom), `\`sbom\` ${attestations}`),
  ]
}

const isOlder = (version: number | undefined, than: number): boolean => version !== undefined && version < than
