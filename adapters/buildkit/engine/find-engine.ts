import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { parseJson } from '../../json/parse-json.ts'
import type { BuilderTls } from '../options.ts'
import { contextMetadata, currentContext } from './answers.validators.ts'
import { type EngineEndpoint, parseEngineAddress } from './endpoint.ts'

type Env = Readonly<Record<string, string | undefined>>

const DEFAULT_ADDRESS = process.platform === 'win32' ? 'npipe:////./pipe/docker_engine' : 'unix:///var/run/docker.sock'
const DEFAULT_CONTEXT = 'default'

/**
 * Returns the address of the Docker Engine that `docker` uses: DOCKER_HOST, else the context in DOCKER_CONTEXT or
 * `config.json`, else the local engine (https://docs.docker.com/reference/cli/docker/#environment-variables). Throws a
 * UserError if a file cannot be read or an address is invalid.
 */
export async function findEngine(env: Env): Promise<EngineEndpoint> {
  if (env['DOCKER_HOST']) return parseEngineAddress(env['DOCKER_HOST'], await tlsOfEnvironment(env))
  const folder = configFolder(env)
  const context = env['DOCKER_CONTEXT'] || (await contextIn(folder)) || DEFAULT_CONTEXT
  if (context === DEFAULT_CONTEXT) return parseEngineAddress(DEFAULT_ADDRESS)
  const id = createHash('sha256').update(context).digest('hex')
  const address = await addressOf(context, join(folder, 'contexts/meta', id, 'meta.json'))
  return parseEngineAddress(address, await certificatesIn(join(folder, 'contexts/tls', id, 'docker')))
}

const configFolder = (env: Env) => env['DOCKER_CONFIG'] || join(env['HOME'] || homedir(), '.docker')

/** Returns the certificates for DOCKER_HOST. DOCKER_TLS_VERIFY with any value enables TLS. */
async function tlsOfEnvironment(env: Env): Promise<BuilderTls | undefined> {
  if (!env['DOCKER_TLS_VERIFY']) return undefined
  return (await certificatesIn(env['DOCKER_CERT_PATH'] || configFolder(env))) ?? {}
}

/** Returns the certificates in a folder; undefined if it contains none. */
export async function certificatesIn(folder: string): Promise<BuilderTls | undefined> {
  const [ca, cert, key] = await Promise.all(['ca.pem', 'cert.pem', 'key.pem'].map(name => read(join(folder, name))))
  if (!ca && !cert && !key) return undefined
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
}

async function contextIn(folder: string): Promise<string | undefined> {
  const path = join(folder, 'config.json')
  const text = (await read(path))?.toString() ?? ''
  // Docker accepts an empty file, too.
  if (text.trim() === '') return undefined
  const config = parseJson(text, currentContext)
  if (config.ok) return config.value.currentContext
  throw new UserError(`the Docker configuration \`${path}\` cannot be read: ${config.problem}`)
}

async function addressOf(context: string, path: string): Promise<string> {
  const hint = '`docker context ls` lists the contexts; DOCKER_CONTEXT and `docker context use` choose one'
  const text = await read(path)
  if (!text) throw new UserError(`the Docker context \`${context}\` does not exist`, { hint })
  const metadata = parseJson(text.toString(), contextMetadata)
  if (!metadata.ok)
    throw new UserError(`the Docker context \`${context}\` cannot be read: ${metadata.problem}`, { hint })
  return metadata.value.Endpoints.docker.Host || DEFAULT_ADDRESS
}

async function read(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // node throws nothing else
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new UserError(`\`${path}\` cannot be read (${code})`)
  }
}
