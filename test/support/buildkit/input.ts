import type { BuildCall, ImageInput } from '../../../adapters/buildkit/builder.ts'
import { PLAIN_BUILD } from '../../../compiler/values/images/build-spec.ts'

/** Settings that a builder gets unchanged; its contexts have another type, and it gets no build order. */
const { contexts: _, dependsOn: __, exportCache: ___, ...SETTINGS } = PLAIN_BUILD

/** The input of an image of which only a part matters. */
export const imageInput = (part: Partial<ImageInput>): ImageInput => ({
  context: { folder: '/src' },
  dockerfile: { path: '/src/Dockerfile' },
  contexts: new Map(),
  ...SETTINGS,
  output: { kind: 'discard' },
  ...part,
})

export const buildCall = (part: Partial<BuildCall> = {}): BuildCall => ({
  signal: new AbortController().signal,
  onStatus: () => {},
  credentials: async () => undefined,
  ...part,
})
