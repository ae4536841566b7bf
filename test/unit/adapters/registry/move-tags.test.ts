import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { RegistryCredentials } from '../../../../adapters/registry/docker-config.ts'
import { moveTags, type TagMove } from '../../../../adapters/registry/move-tags.ts'
import type { RegistrySessionOptions } from '../../../../adapters/registry/registry-session.ts'
import {
  DIGEST,
  type FakeServer,
  fakeServer,
  giveManifest,
  type Handler,
  MANIFEST,
  refuse,
} from '../../../support/registry/fake-registry.ts'

const ANN: RegistryCredentials = { kind: 'login', username: 'ann', password: 'secret of ann' }

/**
 * Starts a registry of `team/web` that has the image of DIGEST; `before` may answer in its place, and then returns
 * true.
 */
async function registry(before: (...given: Parameters<Handler>) => boolean = () => false) {
  const tags = new Map<string, { readonly type: string | undefined; readonly body: string }>()
  const server = await fakeServer((request, response, fake) => {
    if (before(request, response, fake)) return
    const [, name = ''] = /^\/v2\/team\/web\/manifests\/(.+)$/.exec(request.path) ?? []
    if (request.method === 'PUT') {
      tags.set(name, { type: request.headers['content-type'], body: request.body })
      return void response.writeHead(201).end()
    }
    if (name === DIGEST) giveManifest(response)
    else refuse(response, 404, 'MANIFEST_UNKNOWN')
  })
  return { server, tags }
}

const move = ({ host }: FakeServer, tag: string, digest = DIGEST): TagMove => ({
  name: `${host}/team/web:${tag}`,
  digest,
})

/** Moves tags, and returns the problems by tag. */
async function problems(
  server: FakeServer,
  moves: readonly TagMove[],
  { login, ...options }: Partial<RegistrySessionOptions> & { readonly login?: RegistryCredentials } = {},
) {
  const found = await moveTags(moves, {
    env: { DOCKER_CONFIG: '/nonexistent' },
    signal: AbortSignal.timeout(15_000),
    credentials: new Map(login && [[server.host, login]]),
    ...options,
    retries: { pause: 1, silence: 500, ...options.retries },
  })
  return Object.fromEntries([...found].map(([name, problem]) => [name.split(':').at(-1), problem]))
}

const asked = ({ requests }: FakeServer) => requests.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`)

describe('moveTags', () => {
  test('moveTags copies the manifest byte for byte, with its type', async () => {
    const { server, tags } = await registry()
    expect(await problems(server, [move(server, 'latest')])).toEqual({})
    expect(asked(server).slice(-2)).toEqual([`GET ${DIGEST}`, 'PUT latest'])
    const type = 'application/vnd.oci.image.index.v1+json'
    expect(Object.fromEntries(tags)).toEqual({ latest: { type, body: MANIFEST } })
  })

  test('moveTags writes `latest` for a name without a tag', async () => {
    const { server, tags } = await registry()
    await problems(server, [{ name: `${server.host}/team/web`, digest: DIGEST }])
    expect([...tags.keys()]).toEqual(['latest'])
  })

  test('moveTags requests a token with the right to push', async () => {
    const scopes: (string | null)[] = []
    const { server, tags } = await registry(({ path, headers }, response, fake) => {
      if (path.startsWith('/token')) {
        scopes.push(new URL(path, fake.origin).searchParams.get('scope'))
        response.end('{"token":"abc"}')
        return true
      }
      if (headers.authorization === 'Bearer abc') return false
      const challenge = `Bearer realm="${fake.origin}/token",service="r",scope="repository:team/web:pull"`
      refuse(response, 401, 'UNAUTHORIZED', { 'www-authenticate': challenge })
      return true
    })
    expect(await problems(server, [move(server, '1')], { login: ANN })).toEqual({})
    expect([...tags.keys()]).toEqual(['1'])
    expect(scopes).toEqual(['repository:team/web:pull,push'])
  })

  test.each<[string, (response: Parameters<Handler>[1]) => void]>([
    ['a status that passes', response => refuse(response, 503, 'UNAVAILABLE')],
    ['too many requests', response => refuse(response, 429, 'TOOMANYREQUESTS')],
    ['a connection that is cut', response => response.socket!.destroy()],
    ['silence', () => {}],
  ])('moveTags moves a tag in spite of %s', async (_, answer) => {
    const count = { GET: 0, PUT: 0, HEAD: 0 }
    const { server, tags } = await registry(({ method, path }, response) => {
      if (!path.includes('/manifests/')) return false
      if (count[method as keyof typeof count]++ > 0) return false
      answer(response)
      return true
    })
    expect(await problems(server, [move(server, '1')])).toEqual({})
    expect([...tags.keys()]).toEqual(['1'])
  })
})

describe('tags that are not moved', () => {
  test('moveTags reports the tags that the registry refuses, and moves the others', async () => {
    const { server, tags } = await registry(({ method, path }, response) => {
      if (method !== 'PUT' || path.endsWith('/free')) return false
      if (path.endsWith('/kept')) refuse(response, 409, 'TAG_INVALID: the tag is immutable')
      else refuse(response, path.endsWith('/closed') ? 403 : 405, 'DENIED')
      return true
    })
    const all = ['kept', 'closed', 'read-only', 'free'].map(tag => move(server, tag))
    expect(await problems(server, all)).toMatchObject({
      kept: { kind: 'refused', status: 409, said: expect.stringContaining('immutable') },
      closed: { kind: 'denied', login: 'none' },
      'read-only': { kind: 'refused', status: 405 },
    })
    expect([...tags.keys()]).toEqual(['free'])
  })

  test('moveTags reports an image that is missing or has another digest', async () => {
    const other = `sha256:${createHash('sha256').update('other').digest('hex')}`
    const { server, tags } = await registry(({ path }, response) => {
      if (!path.endsWith(other)) return false
      giveManifest(response)
      return true
    })
    const missing = `sha256:${'0'.repeat(64)}`
    expect(await problems(server, [move(server, 'gone', missing), move(server, 'wrong', other)])).toMatchObject({
      gone: { kind: 'missing' },
      wrong: { kind: 'not-a-registry' },
    })
    expect(tags.size).toBe(0)
  })

  test('moveTags reports a registry that stores something else', async () => {
    const { server } = await registry(({ method }, response) => {
      if (method !== 'PUT') return false
      response.writeHead(201, { 'docker-content-digest': `sha256:${'0'.repeat(64)}` }).end()
      return true
    })
    expect(await problems(server, [move(server, '1')])).toMatchObject({ 1: { kind: 'not-a-registry' } })
  })

  test('moveTags reports an unreachable registry, and ends with its signal', async () => {
    const { server } = await registry(() => true)
    const gone = { ...server, host: '127.0.0.1:9' }
    expect(await problems(gone, [move(gone, '1')])).toMatchObject({ 1: { kind: 'unreachable' } })
    const signal = AbortSignal.timeout(50)
    const error = await problems(server, [move(server, '1')], { signal }).catch((reason: unknown) => reason)
    expect(error).toBe(signal.reason)
  })
})
