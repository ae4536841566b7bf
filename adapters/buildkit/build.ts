import { createHash } from 'node:crypto'
import { constants, open } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import type { BuildSecretSource } from '../../compiler/values/images/build-spec.ts'
import {
  CONTEXT,
  DOCKERFILE,
  fileOf,
  folderName,
  frontendAttributes,
  INLINE_DOCKERFILE,
  layoutName,
} from './attributes.ts'
import type { BuildCall, BuildOutput, BuildResult, ContextSource, ImageInput } from './builder.ts'
import type { BuilderConnection } from './connection.ts'
import type { BlobStore } from './content/blob-store.ts'
import { openCaches } from './content/local-caches.ts'
import { BuilderError } from './failure.ts'
import type { FileChanged } from './files/changed.ts'
import { folderAt, folderInMemory, type SyncedFolder } from './files/folder.ts'
import type { SessionResources } from './session/session.ts'
import { type Exporter, solve } from './solve.ts'
import { openAgents } from './ssh/open-agents.ts'
import { warningOf } from './status.ts'

/** Builds an image over a connection to BuildKit: see `Builder.build`. */
export async function buildOver(
  connection: BuilderConnection,
  input: ImageInput,
  call: BuildCall,
): Promise<BuildResult> {
  const response = await runBuild(connection, input, call, exporterOf(connection.name, input))
  const digest = response['containerimage.digest']
  return resultOf(connection.name, input.output, digest)
}

const DIGEST = /^sha256:[0-9a-f]{64}$/

/**
 * Returns the result of a build. Throws a `BuilderError` if the digest is malformed, or if a pushed image has no
 * digest.
 */
export function resultOf(builder: string, { kind }: BuildOutput, digest: string | undefined): BuildResult {
  if (digest !== undefined && !DIGEST.test(digest))
    throw new BuilderError('refused', `${builder} returned \`${digest.slice(0, 100)}\`, which is not a digest`)
  if (digest !== undefined) return { digest }
  if (kind === 'registry' || kind === 'layout')
    throw new BuilderError('refused', `${builder} did not return the digest of the image`)
  return {}
}

/** Builds an image and returns the exporter's response. Without an exporter, the image is only built. */
export async function runBuild(
  connection: BuilderConnection,
  input: ImageInput,
  call: BuildCall,
  exporter?: Exporter,
): Promise<Readonly<Record<string, string>>> {
  const [agents, caches] = await Promise.all([openAgents(input.ssh), openCaches(input)])
  if (caches.warnings.length > 0) call.onStatus({ warnings: caches.warnings.map(warningOf) })
  const request = {
    frontendAttributes: frontendAttributes(input),
    ...(exporter && { exporter }),
    cacheFrom: caches.cacheFrom,
    cacheTo: caches.cacheTo,
    entitlements: entitlementsOf(input),
    sharedKey: sharedKeyOf(input.context),
  }
  let changed: FileChanged | undefined
  const onChange = (change: FileChanged) => {
    changed ??= change
  }
  const own = resourcesOf(input, call, onChange)
  const resources = { ...own, agents, stores: new Map([...caches.stores, ...layoutsOf(input)]) }
  try {
    const response = await solve(connection, request, resources, call)
    // The builder continued without the changed file, so the result is wrong.
    if (changed) throw changed
    await caches.finish(response)
    return response
  } catch (error) {
    call.signal.throwIfAborted()
    if (!changed) throw error
    const { path } = changed
    const what = path === '' ? 'files of the context' : `\`${path}\``
    throw new BuilderError('changed', `${what} changed during the build`, { cause: error })
  }
}

function exporterOf(builder: string, { output, platforms }: ImageInput): Exporter | undefined {
  switch (output.kind) {
    case 'registry':
      return { type: 'image', attributes: { ...namesOf(output), push: 'true', 'oci-mediatypes': 'true' } }
    case 'archive':
      // The format of `docker save` cannot hold several platforms.
      return { type: platforms.length > 1 ? 'oci' : 'docker', attributes: namesOf(output) }
    case 'engine':
      throw new BuilderError('refused', `${builder} has no store of images, as a Docker Engine has`)
    case 'layout':
      return { type: 'oci', attributes: { tar: 'false' } }
    case 'discard':
      return undefined
  }
}

/**
 * Returns the stores of the images that the build reads and writes over the session. Each store is paired with the name
 * that BuildKit uses for it.
 */
function layoutsOf({ contexts, output }: ImageInput): readonly (readonly [string, BlobStore])[] {
  const read = [...contexts.values()].flatMap(source =>
    'layout' in source ? [[`oci:${layoutName(source)}`, { folder: source.layout, isWritable: false }] as const] : [],
  )
  return output.kind === 'layout' ? [...read, ['export', { folder: output.folder, isWritable: true }]] : read
}

const namesOf = ({ names }: Extract<BuildOutput, { readonly names: unknown }>): Readonly<Record<string, string>> =>
  names.length > 0 ? { name: names.join(',') } : {}

/** Returns the entitlements of a build: `network: host` implies the entitlement for the host network. */
function entitlementsOf({ entitlements, network }: ImageInput): readonly string[] {
  const needed = network === 'host' ? ['network.host'] : []
  return [...new Set([...entitlements, ...needed])]
}

/**
 * Returns the key under which a builder caches the files of a context. Folders on other machines have different keys.
 */
const sharedKeyOf = (context: ContextSource): string =>
  'folder' in context ? createHash('sha256').update(`${hostname()}\0${context.folder}`).digest('hex') : ''

function resourcesOf(
  input: ImageInput,
  { credentials, changesIn = () => undefined, onSecret = () => {} }: BuildCall,
  onChange: (change: FileChanged) => void,
): Omit<SessionResources, 'agents' | 'stores'> {
  const { output } = input
  return {
    folders: foldersOf(input, folder => folderAt(folder, changesIn(folder))),
    onChange,
    credentials,
    secret: async id => {
      const source = input.secrets.get(id)
      const content = source && (await secretContent(source))
      if (content) onSecret(content)
      return content
    },
    ...(output.kind === 'archive' && { archive: output.path }),
  }
}

function foldersOf(
  { context, dockerfile, contexts }: ImageInput,
  open: (folder: string) => SyncedFolder,
): ReadonlyMap<string, SyncedFolder> {
  const folders = new Map<string, SyncedFolder>()
  if ('folder' in context) folders.set(CONTEXT, open(context.folder))
  if ('text' in dockerfile) folders.set(DOCKERFILE, folderInMemory(new Map([[INLINE_DOCKERFILE, dockerfile.text]])))
  else if ('folder' in context) folders.set(DOCKERFILE, open(dirname(fileOf(dockerfile))))
  for (const [name, source] of contexts) if ('folder' in source) folders.set(folderName(name), open(source.folder))
  return folders
}

/** Returns the content of a secret. Rejects with the file system's error if the file of the secret cannot be read. */
export async function secretContent(source: BuildSecretSource): Promise<Buffer> {
  if ('value' in source) return Buffer.from(source.value)
  const found = await stat(source.file)
  if (!found.isFIFO()) return readFile(source.file)
  const key = `${source.file} ${found.dev}:${found.ino}`
  const content = pipeContents.get(key) ?? readPipe(source.file)
  pipeContents.set(key, content)
  return content
}

/**
 * Contents of pipes such as `<(command)`, by path and inode: a pipe can be read only once, but several builds may use
 * the secret, and a build may request it again.
 */
const pipeContents = new Map<string, Promise<Buffer>>()

/**
 * Reads a pipe to its end. Reading it as a file would block a thread until a writer appears, and the process could not
 * even exit.
 */
async function readPipe(path: string): Promise<Buffer> {
  const fd = await promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return buffer(new Socket({ fd, readable: true, writable: false }))
}
