import type { BuildCall, ImageInput } from '../../adapters/buildkit/builder.ts'

/** The input of an image of which only a part matters. */
export const imageInput = (part: Partial<ImageInput>): ImageInput => ({
  context: { folder: '/src' },
  dockerfile: { path: '/src/Dockerfile' },
  contexts: new Map(),
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
  secrets: new Map(),
  ssh: new Map(),
  output: { kind: 'discard' },
  ...part,
})

export const buildCall = (part: Partial<BuildCall> = {}): BuildCall => ({
  signal: new AbortController().signal,
  onStatus: () => {},
  credentials: async () => undefined,
  ...part,
})
