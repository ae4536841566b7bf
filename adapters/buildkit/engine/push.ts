import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { parseImageReference, registryIn } from '../../../compiler/values/images/image-reference.ts'
import { parseJson } from '../../json/parse-json.ts'
import type { BuildCall } from '../builder.ts'
import { BuilderError } from '../failure.ts'
import { registryAnswer, shortRegistryText } from '../registry-failure.ts'
import type { Login } from '../session/session.ts'
import type { Timestamp, Vertex } from '../status.ts'
import { engineError, pushProgress } from './answers.validators.ts'
import { callEngine, textOf } from './api.ts'
import type { EngineEndpoint } from './endpoint.ts'

/** Docker's name for the registry of images without a registry name. */
const HUB = 'docker.io'

/**
 * Pushes an image of a Docker Engine, and returns the digest of its manifest if the engine reports it. Reports the push
 * as a step in the status of the build. Throws a `BuilderError` if the push fails, or the signal's abort reason.
 */
export async function pushFromEngine(
  endpoint: EngineEndpoint,
  name: string,
  { signal, credentials, onStatus }: BuildCall,
): Promise<string | undefined> {
  const reference = parseImageReference(name)
  if (!reference.ok) throw new BuilderError('refused', `\`${name}\` is not a valid image name: ${reference.reason}`)
  const { name: repository, tag = 'latest' } = reference.value
  const login = await credentials(registryIn(repository) ?? HUB)
  const step: Vertex = { digest: `push:${name}`, name: `pushing ${name}`, started: now() }
  onStatus({ vertexes: [step] })
  try {
    const path = `/images/${encodeURI(repository)}/push?tag=${encodeURIComponent(tag)}`
    const answer = await callEngine(endpoint, 'POST', path, { signal, headers: { 'x-registry-auth': authOf(login) } })
    if (answer.status !== 200) throw registryError(name, problemIn(await textOf(answer)))
    const digest = await digestIn(name, Readable.from(answer.body), step.digest, onStatus)
    onStatus({ vertexes: [{ ...step, completed: now() }] })
    return digest
  } catch (error) {
    signal.throwIfAborted()
    onStatus({ vertexes: [{ ...step, completed: now(), error: (error as Error).message }] })
    if (error instanceof BuilderError) throw error
    throw lostConnection(error as Error)
  }
}

export const lostConnection = (error: Error): BuilderError =>
  new BuilderError('lost', `the connection to the Docker Engine was lost: ${error.message}`, { cause: error })

/** Returns the error for a push that the registry rejected, from the text of the engine. */
export function registryError(name: string, text: string): BuilderError {
  const message = `failed to push ${name}: ${text}`
  return new BuilderError('registry', shortRegistryText(message), {
    isTransient: registryAnswer(message) === 'transient',
  })
}

/**
 * Encodes the login as the engine expects it: as JSON in base64url. Keeps the padding with `=`, because Go's decoder
 * requires it.
 */
function authOf(login: Login | undefined): string {
  const auth = login && (login.username === '' ? { identitytoken: login.secret } : passwordOf(login))
  return Buffer.from(JSON.stringify(auth ?? {}))
    .toString('base64')
    .replaceAll('+', '-')
    .replaceAll('/', '_')
}

const passwordOf = ({ username, secret }: Login) => ({ username, password: secret })

async function digestIn(
  name: string,
  body: Readable,
  vertex: string,
  onStatus: BuildCall['onStatus'],
): Promise<string | undefined> {
  let digest: string | undefined
  const started = now()
  for await (const line of createInterface({ input: body })) {
    const read = parseJson(line, pushProgress)
    if (!read.ok) continue
    const { id, status, error, progressDetail, aux } = read.value
    if (error !== undefined) throw registryError(name, error)
    digest = aux?.Digest ?? digest
    const { current, total } = progressDetail ?? {}
    if (id === undefined || current === undefined) continue
    onStatus({
      statuses: [{ ID: id, vertex, name: status ?? '', current, ...(total !== undefined && { total }), started }],
    })
  }
  return digest
}

function problemIn(text: string): string {
  const read = parseJson(text, engineError)
  return read.ok ? read.value.message : text.slice(0, 500)
}

function now(): Timestamp {
  const time = Date.now()
  return { seconds: Math.floor(time / 1000), nanos: (time % 1000) * 1e6 }
}
