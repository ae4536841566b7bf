import { basename } from 'node:path'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { SourceFile } from '../../compiler/text/source.ts'
import { type ContextSource, parseContext } from '../../compiler/values/build-context.ts'
import type { BuildSpec } from '../../compiler/values/build-spec.ts'
import type { LocalWorld } from '../session.ts'
import type { BuildOutcome } from './build.ts'
import { buildImages } from './build-images.ts'
import { NotBuilt } from './builder.ts'
import { currentBuilder } from './choose-builder.ts'
import type { BuildSettings } from './image-input.ts'

export interface DockerfileInput extends BuildSettings {
  /** An absolute path. */
  readonly dockerfile: string
  /** An absolute path, or the URL of a repository or archive. */
  readonly context: string
  /** The names that the image is pushed under; empty: it is built and discarded. */
  readonly names: readonly string[]
}

/** Builds one image of a Dockerfile; the manifest plays no part. Throws as `build` does. */
export async function buildDockerfile(
  { workspace, signal, on }: LocalWorld,
  { dockerfile, context, names, ...settings }: DockerfileInput,
): Promise<BuildOutcome> {
  const parsed = parseContext(context)
  if (!parsed.ok) throw new UserError(`the context \`${context}\`: ${parsed.reason}`)
  const name = basename(dockerfile)
  const span = { file: new SourceFile(name, ''), start: 0, end: 0 }
  const [reference = '', ...tags] = names
  const planned = { service: name, span, reference, hasContentTag: false, dependsOn: [] }
  const specOf = () => specOfDockerfile(dockerfile, parsed.value, tags)
  const chosen = currentBuilder(workspace)
  try {
    const images = await buildImages([{ ...planned, specOf }], {
      workspace,
      on,
      chosen,
      settings,
      images: new Map(),
      signal,
    })
    return { kind: 'built', images }
  } catch (error) {
    if (!(error instanceof NotBuilt)) throw error
    on({ type: 'diagnostics', diagnostics: error.diagnostics })
    return { kind: 'failed', diagnostics: error.diagnostics }
  }
}

const specOfDockerfile = (path: string, context: ContextSource, tags: readonly string[]): BuildSpec => ({
  context,
  dockerfile: { path },
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
  tags,
})
