import { parseJson } from '../../json/parse-json.ts'
import { runBuild } from '../build.ts'
import type { BuildCall, BuildResult, ImageInput } from '../builder.ts'
import type { BuilderConnection } from '../connection.ts'
import { BuilderError } from '../failure.ts'
import { writeWhole } from '../session/upload.ts'
import { engineInfo } from './answers.validators.ts'
import { callEngine, textOf } from './api.ts'
import type { EngineEndpoint } from './endpoint.ts'
import { pushFromEngine } from './push.ts'

/** An engine that has answered. */
export interface ConnectedEngine {
  readonly endpoint: EngineEndpoint
  readonly version: string | undefined
  readonly connection: BuilderConnection
}

/** The first Docker whose builds have contexts by name. Older ones take the name for an image. */
const NAMED_CONTEXTS = 23

/**
 * Builds an image in a Docker Engine, and pushes or saves it from there: see `Builder.build`. The
 * image stays in the engine under its names, as with `docker build`.
 */
export async function buildInEngine(
  { endpoint, version, connection }: ConnectedEngine,
  input: ImageInput,
  call: BuildCall,
): Promise<BuildResult> {
  const { output } = input
  if (input.contexts.size > 0 && Number.parseInt(version ?? '', 10) < NAMED_CONTEXTS)
    throw new BuilderError(
      'refused',
      `${connection.name} has version ${version}, which does not know additional contexts: they need ${NAMED_CONTEXTS}.0`,
    )
  if (input.platforms.length > 1 && !(await holdsSeveralPlatforms(endpoint, call.signal)))
    throw new BuilderError(
      'refused',
      `${connection.name} cannot hold an image for several platforms: its store is not that of containerd`,
    )
  if (output.kind === 'discard') {
    await runBuild(connection, input, call)
    return {}
  }
  const name = output.names.join(',')
  const built = await runBuild(connection, input, call, { type: 'moby', attributes: name === '' ? {} : { name } })
  if (output.kind === 'registry') return pushAll(endpoint, output.names, call)
  if (output.kind === 'archive') {
    const names = output.names.length > 0 ? output.names : [built['containerimage.digest'] ?? '']
    await save(endpoint, names, output.path, call.signal)
  }
  return {}
}

async function holdsSeveralPlatforms(endpoint: EngineEndpoint, signal: AbortSignal): Promise<boolean> {
  const info = parseJson(await textOf(await callEngine(endpoint, 'GET', '/info', { signal })), engineInfo)
  return info.ok && (info.value.DriverStatus ?? []).some(([, value = '']) => value.startsWith('io.containerd.'))
}

async function pushAll(endpoint: EngineEndpoint, names: readonly string[], call: BuildCall): Promise<BuildResult> {
  const digests: (string | undefined)[] = []
  for (const name of names) digests.push(await pushFromEngine(endpoint, name, call))
  const digest = digests.find(one => one !== undefined)
  return digest === undefined ? {} : { digest }
}

async function save(endpoint: EngineEndpoint, names: readonly string[], path: string, signal: AbortSignal) {
  const query = names.map(name => `names=${encodeURIComponent(name)}`).join('&')
  const answer = await callEngine(endpoint, 'GET', `/images/get?${query}`, { signal })
  if (answer.status !== 200) throw new BuilderError('refused', `the image cannot be saved: ${await textOf(answer)}`)
  await writeWhole(path, answer.body)
}
