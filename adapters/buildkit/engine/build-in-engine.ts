import { parseJson } from '../../json/parse-json.ts'
import { resultOf, runBuild } from '../build.ts'
import type { BuildCall, BuildResult, ImageInput } from '../builder.ts'
import type { BuilderConnection } from '../connection.ts'
import { BuilderError } from '../failure.ts'
import { writeWhole } from '../session/upload.ts'
import { warningOf } from '../status.ts'
import { engineInfo } from './answers.validators.ts'
import { callEngine, textOf } from './api.ts'
import type { EngineEndpoint } from './endpoint.ts'
import { dependsOnStore, leftOut, refusalOf } from './engine-limits.ts'
import { lostConnection, pushFromEngine } from './push.ts'

/** A Docker Engine that has responded, and the connection to the BuildKit inside the engine. */
export interface ConnectedEngine {
  readonly endpoint: EngineEndpoint
  readonly version: string | undefined
  readonly connection: BuilderConnection
}

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
  if (output.kind === 'layout')
    throw new BuilderError(
      'refused',
      `${connection.name} hands an image to another build only by a registry; push it, or set \`BUILDKIT_HOST\``,
    )
  await checkAbilities({ endpoint, version, connection }, input, call)
  if (output.kind === 'discard') {
    await runBuild(connection, input, call)
    return {}
  }
  const name = output.names.join(',')
  const built = await runBuild(connection, input, call, { type: 'moby', attributes: name === '' ? {} : { name } })
  resultOf(connection.name, { kind: 'discard' }, built['containerimage.digest'])
  if (output.kind === 'registry') return resultOf(connection.name, output, await pushAll(endpoint, output.names, call))
  if (output.kind === 'archive') {
    const names = output.names.length > 0 ? output.names : [built['containerimage.digest'] ?? '']
    await save(endpoint, names, output.path, call.signal)
  }
  return {}
}

/**
 * Throws a `BuilderError` if the engine cannot build the image as requested, and warns about keys that the engine
 * ignores.
 */
async function checkAbilities({ endpoint, version, connection }: ConnectedEngine, input: ImageInput, call: BuildCall) {
  const major = Number.parseInt(version ?? '', 10)
  const abilities = {
    version: Number.isNaN(major) ? undefined : major,
    hasContainerdStore: !dependsOnStore(input) || (await hasContainerdStore(endpoint, call.signal)),
  }
  const named = `${connection.name}${version === undefined ? '' : ` (version ${version})`}`
  const refusal = refusalOf(input, abilities)
  if (refusal !== undefined) throw new BuilderError('refused', `${named} ${refusal}`)
  const warnings = leftOut(input, abilities).map(text => `${text} with ${named}`)
  if (warnings.length > 0) call.onStatus({ warnings: warnings.map(warningOf) })
}

async function hasContainerdStore(endpoint: EngineEndpoint, signal: AbortSignal): Promise<boolean> {
  try {
    const info = parseJson(await textOf(await callEngine(endpoint, 'GET', '/info', { signal })), engineInfo)
    return info.ok && (info.value.DriverStatus ?? []).some(([, value = '']) => value.startsWith('io.containerd.'))
  } catch (error) {
    signal.throwIfAborted()
    throw lostConnection(error as Error)
  }
}

async function pushAll(
  endpoint: EngineEndpoint,
  names: readonly string[],
  call: BuildCall,
): Promise<string | undefined> {
  const digests: (string | undefined)[] = []
  for (const name of names) digests.push(await pushFromEngine(endpoint, name, call))
  return digests.find(one => one !== undefined)
}

async function save(endpoint: EngineEndpoint, names: readonly string[], path: string, signal: AbortSignal) {
  const query = names.map(name => `names=${encodeURIComponent(name)}`).join('&')
  try {
    const answer = await callEngine(endpoint, 'GET', `/images/get?${query}`, { signal })
    if (answer.status !== 200) throw new BuilderError('refused', `the image cannot be saved: ${await textOf(answer)}`)
    await writeWhole(path, answer.body)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof BuilderError) throw error
    const { code = '' } = error as NodeJS.ErrnoException
    if (OF_DISKS.has(code))
      throw new BuilderError('refused', `the image cannot be saved to \`${path}\`: ${code}`, { cause: error })
    throw lostConnection(error as Error)
  }
}

/** Error codes that mean that a file could not be written; all other codes are connection errors. */
const OF_DISKS = new Set([
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'EIO',
  'EROFS',
  'EACCES',
  'EPERM',
  'ENOENT',
  'ENOTDIR',
  'EISDIR',
])
