import type { Vertex } from './status.ts'

/** The failure reported by a builder that sends no details. */
export interface OlderFailure {
  /** The message, in the wording of newer builders. */
  readonly message: string
  /** Name of the step in the status: `[web 2/3] RUN make`, `[internal] load metadata for IMAGE`. */
  readonly stepName: string | undefined
  readonly exitStatus: number | undefined
}

/** Names of steps that run an instruction of the Dockerfile, or load a base image or a file for `ADD`. */
const OF_DOCKERFILE = /^\[(?:\S+ )?\d+\/\d+\] |^\[internal\] load metadata for |^FROM |^https?:\/\//

/** Start of a frontend's error about the Dockerfile. */
const PREFIX = /^failed to solve with frontend \S+: failed to (?:create LLB definition|build LLB|solve LLB): /

/**
 * Parses the error of a builder that sends no details, such as Docker 20.10 (BuildKit before 0.9); undefined if the
 * error is not about the Dockerfile.
 */
export function olderFailure(text: string, step: Vertex | undefined): OlderFailure | undefined {
  const name = step?.name !== undefined && OF_DOCKERFILE.test(step.name) ? step.name : undefined
  const exit = /executor failed running .*: exit code: (\d+)$/s.exec(text)?.[1]
  if (name === undefined && exit === undefined && !PREFIX.test(text)) return undefined
  const plain = text.replace(PREFIX, '').replace(/^rpc error: code = \w+ desc = /, '')
  return {
    message: exit === undefined ? inNewWords(plain, name ?? '') : plain,
    stepName: name,
    exitStatus: exit === undefined ? undefined : Number(exit),
  }
}

function inNewWords(text: string, step: string): string {
  const image = /^(?:\[internal\] load metadata for|FROM) (\S+)/.exec(step)?.[1]
  if (image !== undefined) return metadataFailure(image, text)
  return text
    .replace(
      /^failed to compute cache key: "(.+)" not found: not found$/s,
      'failed to calculate checksum of ref "$1": not found',
    )
    .replace(/^executor failed running \[(.*)\]: /s, 'process "$1" did not complete successfully: ')
    .replace(/^secret (\S+) not found: not found$/, 'secret $1: not found')
    .replace(/^target stage (\S+) could not be found$/, 'target stage "$1" could not be found')
    .replace(/\blstat \S*?\/(?:diff|merged|fs|buildkit-mount\d+)(?=\/)/, 'lstat ')
}

/**
 * Returns the message for an image whose metadata cannot be loaded. The image is named as in the Dockerfile, without
 * Docker Hub's implied prefix.
 */
function metadataFailure(image: string, text: string): string {
  const written = image.replace(/^docker\.io\/(?:library\/)?/, '').replace(/:latest$/, '')
  const reason = text.replace(/^failed to load cache key: /, '')
  return `${written}: failed to resolve source metadata for ${image}: ${reason}`
}
