import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { type ClientHttp2Session, connect } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { ImageInput } from '../../../adapters/buildkit/builder.ts'
import { frame } from '../../../adapters/buildkit/session/frames.ts'
import { encodeMessage } from '../../../adapters/buildkit/wire.ts'
import { addressOf, buildctlEnv, findBuildkit, inFolder, ofFolder } from '../../support/buildkit/buildkit.ts'
import { buildCall, imageInput } from '../../support/buildkit/input.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { builderOf, buildFor, poolOf, type Tenant, tunnelTo } from './tunnel.ts'

// These tests show two users who build on the same BuildKit through the filter of the platform: neither sees, changes
// or delays the other's builds.

const address = findBuildkit() ?? ''
const RUN = randomUUID().slice(0, 8)

describe.skipIf(address === '')('builds of two namespaces on one builder', () => {
  const pool = address === '' ? (undefined as never) : poolOf([address])
  const ann: Tenant = { namespace: 'ann', uid: `a-${randomUUID()}`, pool }
  const bob: Tenant = { namespace: 'bob', uid: `b-${randomUUID()}`, pool }
  const from = (...lines: readonly string[]) => ({ Dockerfile: ['FROM busybox', ...lines, ''].join('\n') })

  test('an image is built with files, arguments and secrets of the client', async () => {
    const files = {
      ...from(
        'ARG WHO',
        'COPY greeting /',
        'RUN --mount=type=secret,id=key cat /greeting /run/secrets/key; echo of $WHO',
      ),
      greeting: 'hello ',
    }
    await inFolder(files, async folder => {
      const { log } = await buildFor(ann, {
        ...ofFolder(folder),
        args: new Map([['WHO', `ann${RUN}`]]),
        secrets: new Map([['key', { value: `secret-${RUN} ` }]]),
      })
      expect(log).toContain(`hello secret-${RUN} of ann${RUN}`)
    })
  })

  test('a cache mount of one namespace is neither readable nor writable for another', async () => {
    const look = (id: number) =>
      from(`RUN --mount=type=cache,id=tools-${RUN},target=/c cat /c/canary && : ${id} ${RUN}`)
    await inFolder(from(`RUN --mount=type=cache,id=tools-${RUN},target=/c echo canary-${RUN} > /c/canary`), folder =>
      buildFor(ann, ofFolder(folder)),
    )
    await expect(inFolder(look(1), folder => buildFor(bob, ofFolder(folder)))).rejects.toThrow('exit code: 1')
    // The name that the platform gives it does not work either.
    const guess = `RUN --mount=type=cache,id=${ann.uid}/tools-${RUN},target=/c cat /c/canary`
    await expect(inFolder(from(guess), folder => buildFor(bob, ofFolder(folder)))).rejects.toThrow('exit code: 1')
    const own = await inFolder(look(2), folder => buildFor(ann, ofFolder(folder)))
    expect(own.log).toContain(`canary-${RUN}`)
  })

  test('a build step with different secrets is not reused from the cache of another namespace', async () => {
    const files = from(`RUN --mount=type=secret,id=index cat /run/secrets/index > /result; : ${RUN}`, 'RUN cat /result')
    const build = (tenant: Tenant, value: string) =>
      inFolder(files, folder => buildFor(tenant, { ...ofFolder(folder), secrets: new Map([['index', { value }]]) }))
    await build(ann, `evil-${RUN}\n`)
    const others = await build(bob, `good-${RUN}\n`)
    expect(others.log).toContain(`good-${RUN}`)
    expect(others.log).not.toContain('evil')
    expect((await build(bob, 'another')).cached.filter(name => name.includes('RUN'))).toHaveLength(2)
  })

  test('a build needs permission for an image of another namespace, even if the builder has it', async () => {
    // Every client can pull from the test cluster's registry: only the platform refuses here.
    const registry = '127.0.0.1:5000'
    const [place, image] = ['ann-1f2e3d4c', `${registry}/ann-1f2e3d4c/base-${RUN}:1`]
    const output = { kind: 'registry', names: [image] } as const
    await inFolder(from(`RUN echo kept-${RUN} > /kept`), folder =>
      buildFor({ ...ann, images: { registry, place } }, { ...ofFolder(folder), output }),
    )
    const build = (
      lines: readonly string[],
      pulls: readonly string[] = [],
      contexts: ImageInput['contexts'] = new Map(),
    ) =>
      inFolder({ Dockerfile: [...lines, ''].join('\n') }, folder =>
        buildFor({ ...bob, images: { registry, place: 'bob-1f2e3d4c' }, pulls }, { ...ofFolder(folder), contexts }),
      )
    const own = await build([`FROM ${image}`, 'RUN cat /kept'], [place])
    expect(own.log).toContain(`kept-${RUN}`)
    const named = new Map([['base', { remote: `docker-image://${image}` }]])
    for (const [lines, contexts] of [
      [[`FROM ${image}`]],
      [['FROM busybox', `COPY --from=${image} /kept /`]],
      [['FROM busybox', `RUN --mount=from=${image},target=/x cat /x/kept`]],
      [['FROM base'], named],
    ] as const)
      await expect(build(lines, ['ann-2f2e3d4c'], contexts), lines.join()).rejects.toThrow('denied by policy')
    expect((await build(['FROM busybox', `RUN echo other-${RUN}`])).log).toContain(`other-${RUN}`)
  })

  test('the output of a build is not readable for another namespace under any name', async () => {
    const line = `RUN echo private-${RUN}`
    await inFolder(from(line), folder => buildFor(ann, ofFolder(folder)))
    const admin = connect('http://buildkit', { createConnection: () => connectTcp(addressOf(address)) })
    const other = await open(bob)
    try {
      const refs = await refsOf(address)
      const logOf = (session: ClientHttp2Session, ref: string) => printed(session, ref, 1500)
      const all = await Promise.all(refs.map(async ref => ({ ref, text: await logOf(admin, ref) })))
      const own = all.filter(({ text }) => text.includes(`private-${RUN}`))
      // One build of the history has this output.
      expect(own).toHaveLength(1)
      const told = await Promise.all(own.map(({ ref }) => logOf(other, ref)))
      expect(told.join('')).toBe('')
    } finally {
      admin.destroy()
      other.destroy()
    }
  })

  test.each([
    'moby.buildkit.v1.Control/Prune',
    'moby.buildkit.v1.Control/DiskUsage',
    'moby.buildkit.v1.Control/ListenBuildHistory',
    'moby.buildkit.v1.Control/UpdateBuildHistory',
    'moby.buildkit.v1.frontend.LLBBridge/Solve',
    'moby.buildkit.v1.frontend.LLBBridge/ReadFile',
    'containerd.services.content.v1.Content/List',
    'opentelemetry.proto.collector.trace.v1.TraceService/Export',
    'grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
    'moby.buildkit.v1.Control/../Control/Prune',
  ])('%s cannot be called', async method => {
    const tunnel = await open(bob)
    try {
      const { code, message } = await callPath(tunnel, `/${method}`, Buffer.alloc(0))
      expect([code, message]).toEqual([7, expect.stringContaining('do not allow')])
    } finally {
      tunnel.destroy()
    }
  })

  test('the builder reports its version and its workers', async () => {
    const tunnel = await open(bob)
    try {
      expect(await call(tunnel, 'Info', 'InfoRequest', {})).toMatchObject({ code: 0 })
      expect(await callPath(tunnel, '/moby.buildkit.v1.Control/ListWorkers', Buffer.alloc(0))).toMatchObject({
        code: 0,
      })
    } finally {
      tunnel.destroy()
    }
  })

  const image = (attributes: object) => ({ Exporters: [{ Type: 'image', Attrs: attributes }] })
  test.each<readonly [string, object, string]>([
    ['a graph of its own', { Frontend: '' }, 'only Dockerfiles'],
    [
      'a frontend of an image',
      { Frontend: 'gateway.v0', FrontendAttrs: { source: 'evil/frontend' } },
      'only Dockerfiles',
    ],
    ['an entitlement', { Entitlements: ['security.insecure'] }, 'no entitlements'],
    ['the network of the host', { FrontendAttrs: { 'force-network-mode': 'host' } }, 'no network `host`'],
    ['another cgroup', { FrontendAttrs: { 'cgroup-parent': '/' } }, '`cgroup-parent` is not allowed'],
    ['the session of somebody', { FrontendAttrs: { 'local-sessionid:context': 'x' } }, 'is not allowed'],
    [
      'a cache mount of somebody',
      { FrontendAttrs: { 'build-arg:BUILDKIT_CACHE_MOUNT_NS': 'x' } },
      'the platform itself sets',
    ],
    ['an image that stays in the builder', image({ name: 'busybox' }), 'have to be pushed'],
    [
      'an image in the registry of another',
      image({ name: 'r.example.com/ann-1f2e3d4c/app', push: 'true' }),
      'not an image of the namespace `bob`',
    ],
    ['a registry without encryption', image({ name: 'a/b', push: 'true', 'registry.insecure': 'true' }), 'not allowed'],
    ['a folder of the builder', { Exporters: [{ Type: 'local', Attrs: { dest: '/' } }] }, 'are not exported'],
    [
      'a cache of another place',
      { Cache: { Imports: [{ Type: 'registry', Attrs: { ref: 'x/y' } }] } },
      'cannot be imported',
    ],
    [
      'a cache with the login of the machine',
      { Cache: { Exports: [{ Type: 's3', Attrs: { bucket: 'b' } }] } },
      'no login of their own',
    ],
  ])('a build with %s is refused', async (_, part, words) => {
    const tunnel = await open({ ...bob, images: { registry: 'r.example.com', place: 'bob-1f2e3d4c' } })
    try {
      const request = { Ref: randomUUID(), Session: randomUUID(), Frontend: 'dockerfile.v0', ...part }
      const { code, message } = await call(tunnel, 'Solve', 'SolveRequest', request)
      expect([code, message]).toEqual([7, expect.stringContaining(words)])
    } finally {
      tunnel.destroy()
    }
  })

  test('a `# syntax=` line does not load another frontend', async () => {
    const files = { Dockerfile: `# syntax=registry.invalid/evil/frontend:1\nFROM busybox\nRUN echo fine-${RUN}\n` }
    expect((await inFolder(files, folder => buildFor(bob, ofFolder(folder)))).log).toContain(`fine-${RUN}`)
  })

  test('a build ends when its client disconnects', async () => {
    const mark = `86${Date.now() % 100_000}`
    await inFolder(from(`RUN sleep ${mark}`), async folder => {
      const signal = new AbortController()
      const stopped = buildFor(ann, ofFolder(folder), { signal: signal.signal }).catch(() => 'ended')
      await eventually('the step runs', async () => (await isRunning(mark)) || undefined)
      signal.abort()
      expect(await stopped).toBe('ended')
      await eventually('the step has ended', async () => ((await isRunning(mark)) ? undefined : true))
    })
  })

  test('a build is refused after the permission was withdrawn, even over an open connection', async () => {
    let isAllowed = true
    const check = async () => {
      if (!isAllowed) throw new Error('no more')
    }
    const builder = await builderOf({ ...bob, check })
    try {
      isAllowed = false
      await inFolder(from('RUN true'), async folder => {
        const building = builder.build(imageInput(ofFolder(folder)), buildCall())
        await expect(building).rejects.toThrow('you may no longer build for `bob`')
      })
    } finally {
      builder.close()
    }
  })
})

/** Returns the refs of the last builds of the platform, as the builder lists them. */
async function refsOf(address: string): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('buildctl', ['--addr', address, 'debug', 'histories'], {
    env: buildctlEnv,
  })
  return stdout
    .split('\n')
    .map(line => line.split('\t'))
    .filter(([, ref = '']) => /^[0-9a-f]{40}$/.test(ref))
    .sort((a, b) => (a[2]! < b[2]! ? 1 : -1))
    .slice(0, 20)
    .map(([, ref]) => ref!)
}

/** Returns the status output of a build that arrives within `within` milliseconds. */
async function printed(session: ClientHttp2Session, ref: string, within: number): Promise<string> {
  const message = encodeMessage('moby.buildkit.v1.StatusRequest', { Ref: ref })
  const stream = session.request({ ...HEADERS, ':path': '/moby.buildkit.v1.Control/Status' })
  stream.on('error', () => {})
  stream.end(Buffer.concat(frame(message)))
  const late = setTimeout(() => stream.destroy(), within)
  let text = ''
  stream.on('data', part => {
    text += part
  })
  await new Promise(resolve => stream.once('close', resolve))
  clearTimeout(late)
  return text
}

const HEADERS = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' }

const isRunning = async (mark: string): Promise<boolean> =>
  (await promisify(execFile)('ps', ['-eo', 'args'])).stdout.includes(`sleep ${mark}`)

async function open(tenant: Tenant): Promise<ClientHttp2Session> {
  const socket = await tunnelTo(tenant)
  const session = connect('http://platform', { createConnection: () => socket })
  session.on('error', () => {})
  return session
}

const call = (session: ClientHttp2Session, method: string, type: string, message: object) =>
  callPath(session, `/moby.buildkit.v1.Control/${method}`, encodeMessage(`moby.buildkit.v1.${type}`, message as never))

/** Returns the gRPC status code and message of a call. */
async function callPath(
  session: ClientHttp2Session,
  path: string,
  message: Buffer,
): Promise<{ code: number; message: string }> {
  const stream = session.request({ ...HEADERS, ':path': path })
  stream.end(Buffer.concat(frame(message)))
  return new Promise((resolve, reject) => {
    const settle = (headers: Record<string, unknown>) =>
      headers['grpc-status'] !== undefined &&
      resolve({
        code: Number(headers['grpc-status']),
        message: decodeURIComponent(String(headers['grpc-message'] ?? '')),
      })
    stream.on('response', settle)
    stream.on('trailers', settle)
    stream.on('error', reject)
    stream.resume()
  })
}
