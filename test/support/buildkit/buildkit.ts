import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { NetConnectOpts } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { BuildResult, ImageInput } from '../../../adapters/buildkit/builder.ts'
import { connectToBuilder } from '../../../adapters/buildkit/connect.ts'
import { ANSWER_MS } from '../deadlines.ts'
import { buildCall, imageInput } from './input.ts'

/** Directory in which the test cluster keeps its state, if a cluster exists. */
const home = process.env.KUBECONFIG ? dirname(process.env.KUBECONFIG) : ''

/**
 * The address of the BuildKit of DEVCTL_TEST_BUILDKIT, or of the test cluster; undefined without
 * one, and then the tests are left out.
 */
export function findBuildkit(): string | undefined {
  const socket = join(home, 'run/buildkitd.sock')
  const address = process.env.DEVCTL_TEST_BUILDKIT || (home && existsSync(socket) ? `unix://${socket}` : undefined)
  if (address === undefined) console.warn('no BuildKit: set DEVCTL_TEST_BUILDKIT to its address')
  return address
}

/**
 * The address of the Docker Engine of DEVCTL_TEST_DOCKER, or of the test cluster, as `build` takes
 * it; undefined without one.
 */
export function findEngineAddress(): string | undefined {
  const socket = join(home, 'run/docker.sock')
  const address = process.env.DEVCTL_TEST_DOCKER || (home && existsSync(socket) ? `unix://${socket}` : undefined)
  if (address === undefined) console.warn('no Docker Engine: set DEVCTL_TEST_DOCKER to its address')
  return address && `${ENGINE}${address}`
}

/** Returns the available builders: their names, and their addresses as `build` takes them. */
export function findBuilders(): (readonly [name: string, address: string])[] {
  const all = [['BuildKit', findBuildkit()] as const, ['a Docker Engine', findEngineAddress()] as const]
  return all.flatMap(([name, address]) => (address === undefined ? [] : [[name, address] as const]))
}

/** Begins the address of a Docker Engine. */
export const ENGINE = 'docker='

/** Returns the socket path, or the host and port, of an address from `findBuildkit`. */
export function addressOf(text: string): NetConnectOpts {
  const path = /^unix:\/\/(.*)$/.exec(text)?.[1]
  if (path !== undefined) return { path }
  const { hostname, port } = new URL(text)
  return { host: hostname, port: Number(port) }
}

const run = promisify(execFile)
/** The environment in which `buildctl` is found. */
export const buildctlEnv = { ...process.env, PATH: `${join(home, 'bin')}${delimiter}${process.env.PATH}` }

/** Runs buildctl; rejects if it fails. */
export const buildctl = async (
  address: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<void> => {
  await run('buildctl', ['--addr', address, ...args], { env: { ...buildctlEnv, ...variables }, timeout: ANSWER_MS })
}

/** Parts of a built image. */
export interface Image {
  readonly config: unknown
  /** The digests of the layers' archives. */
  readonly layers: readonly string[]
  /** Output of `tar -tv` for the layers, without the times of folders, which BuildKit changes. */
  readonly listing: readonly string[]
  /** The digest of the contents of all files, one after the other. */
  readonly contents: string
}

/** Builds with devctl's own client: in BuildKit, or in a Docker Engine. */
export async function build(
  address: string,
  part: Partial<ImageInput>,
  call: Parameters<typeof buildCall>[0] = {},
): Promise<BuildResult> {
  const calling = buildCall(call)
  const isEngine = address.startsWith(ENGINE)
  const env = isEngine ? { DOCKER_HOST: address.slice(ENGINE.length) } : {}
  const builder = await connectToBuilder(isEngine ? 'docker' : address, { signal: calling.signal, env })
  try {
    // The engine of the test cluster has no network of its own for the steps.
    return await builder.build(imageInput({ ...(isEngine && { network: 'host' }), ...part }), calling)
  } finally {
    builder.close()
  }
}

/** The image that devctl's client builds of a folder. */
export const imageOf = (address: string, folder: string, part: Partial<ImageInput> = {}): Promise<Image> =>
  inArchive(async path => {
    await build(address, { ...ofFolder(folder), output: { kind: 'archive', path, names: [] }, ...part })
  })

/** The image that buildctl builds of a folder. */
export const imageOfBuildctl = (address: string, folder: string, options: readonly string[] = []): Promise<Image> =>
  inArchive(path => {
    const local = ['--local', `context=${folder}`, '--local', `dockerfile=${folder}`]
    const output = ['--output', `type=docker,dest=${path}`]
    return buildctl(address, ['build', '--frontend', 'dockerfile.v0', ...local, ...options, ...output])
  })

export const ofFolder = (folder: string): Pick<ImageInput, 'context' | 'dockerfile'> => ({
  context: { folder },
  dockerfile: { path: join(folder, 'Dockerfile') },
})

async function inArchive(write: (path: string) => Promise<void>): Promise<Image> {
  return inFolder({}, async folder => {
    const path = join(folder, 'image.tar')
    await write(path)
    await run('tar', ['-xf', path, '-C', folder])
    const [manifest] = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))
    const { rootfs, created, history, ...config } = JSON.parse(await readFile(join(folder, manifest.Config), 'utf8'))
    const inLayers = async (command: string) =>
      (await run('sh', ['-ec', command, 'sh', ...manifest.Layers], { cwd: folder, maxBuffer: 64 << 20 })).stdout
    const listing = (await inLayers('for layer; do tar --numeric-owner --full-time -tvf "$layer"; done'))
      .split('\n')
      .map(line => (line.startsWith('d') ? line.replace(/ \d{4}-\S+ [\d:.]+ /, ' ') : line))
    const contents = await inLayers('for layer; do tar -xOf "$layer"; done | sha256sum')
    return { config, layers: rootfs.diff_ids, listing, contents }
  })
}

/** Runs with a folder that has these files, and removes it. */
export async function inFolder<Result>(
  files: Readonly<Record<string, string>>,
  use: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'devctl-test-build-'))
  try {
    for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text)
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
