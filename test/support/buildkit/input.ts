import type { BuildCall, ImageInput } from '../../../adapters/buildkit/builder.ts'
import { PLAIN_BUILD } from '../../../compiler/values/images/build-spec.ts'

/** What a builder gets like this; its contexts are of another type, and it gets no order of builds. */
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
