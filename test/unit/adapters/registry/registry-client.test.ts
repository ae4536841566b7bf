import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { RegistryCredentials } from '../../../../adapters/registry/docker-config.ts'
import { repositoryOf } from '../../../../adapters/registry/registry.ts'
import { manifestAddressOf } from '../../../../adapters/registry/registry-address.ts'
import { parseChallenge } from '../../../../adapters/registry/registry-challenge.ts'
import { type ResolveOptions, resolveDigests } from '../../../../adapters/registry/registry-client.ts'
import { isLoopback, isSafeStep } from '../../../../adapters/registry/registry-exchange.ts'
import { describeProblem } from '../../../../adapters/registry/registry-problem.ts'
import { toUnreachable } from '../../../../adapters/registry/registry-unreachable.ts'
import { CERTIFICATE, PRIVATE_KEY } from '../../../support/gitops/certificates.ts'
import {
  DIGEST,
  type FakeServer,
  fakeServer,
  giveManifest,
  MANIFEST,
  refuse,
} from '../../../support/registry/fake-registry.ts'

const PASSWORD = 'a password that nobody may see'
const ANN: RegistryCredentials = { kind: 'login', username: 'ann', password: PASSWORD }
const BASIC = `Basic ${Buffer.from(`ann:${PASSWORD}`).toString('base64')}`

/** Resolves references without a Docker configuration, and with short pauses. */
const resolve = (references: readonly string[], options: Partial<ResolveOptions> = {}) =>
  resolveDigests(references, {
    env: { DOCKER_CONFIG: '/nonexistent' },
    signal: AbortSignal.timeout(15_000),
    ...options,
    retries: { pause: 1, ...options.retries },
  })

/** Returns the result for one tag of a server, with a login for the server if one is given. */
async function resolveOne({ host }: FakeServer, login?: RegistryCredentials, options: Partial<ResolveOptions> = {}) {
  const reference = `${host}/team/web:1`
  const credentials = new Map(login && [[host, login]])
  return (await resolve([reference], { credentials, ...options })).get(reference)
}

const asked = ({ requests }: FakeServer) => requests.map(({ method, path }) => `${method} ${path}`)
const PATH = '/v2/team/web/manifests/1'

/** Starts a registry that requires a token of its own, for callers that `mayHaveIt` accepts. */
const withTokens = (
  mayHaveIt: (authorization: string | undefined, body: string) => boolean,
  challenge = (server: FakeServer) =>
    `Bearer realm="${server.origin}/token?kind=docker",service="the registry",scope="repository:team/web:pull"`,
) =>
  fakeServer(({ path, headers, body }, response, server) => {
    if (path.startsWith('/token'))
      return mayHaveIt(headers.authorization, body)
        ? void response.end('{"token":"abc"}')
        : refuse(response, 401, 'UNAUTHORIZED')
    if (headers.authorization === 'Bearer abc') return giveManifest(response)
    refuse(response, 401, 'UNAUTHORIZED', { 'www-authenticate': challenge(server) })
  })

describe('digests of tags', () => {
  test('a tag has the digest in the answer to HEAD', async () => {
    const server = await fakeServer((_, response) => giveManifest(response))
    expect(await resolveOne(server)).toEqual({ digest: DIGEST })
    expect(asked(server)).toEqual([`HEAD ${PATH}`])
    expect(server.requests[0]!.headers.accept!.split(', ')).toEqual([
      'application/vnd.oci.image.index.v1+json',
      'application/vnd.docker.distribution.manifest.list.v2+json',
      'application/vnd.oci.image.manifest.v1+json',
      'application/vnd.docker.distribution.manifest.v2+json',
    ])
    expect(server.requests[0]!.headers.authorization).toBeUndefined()
  })

  test.each([
    ['tells no digest', ''],
    ['tells one that is none', 'sha256:abc'],
  ])('a tag has the digest of its manifest if the registry %s', async (_, told) => {
    const server = await fakeServer((_, response) => giveManifest(response, told))
    expect(await resolveOne(server)).toEqual({ digest: DIGEST })
    expect(asked(server)).toEqual([`HEAD ${PATH}`, `GET ${PATH}`])
  })

  test('a tag has the digest of its manifest if the registry does not support HEAD', async () => {
    const server = await fakeServer(({ method }, response) =>
      method === 'HEAD' ? void response.writeHead(405).end() : giveManifest(response),
    )
    expect(await resolveOne(server)).toEqual({ digest: DIGEST })
  })

  test('a tag is missing if the registry says so', async () => {
    for (const code of ['MANIFEST_UNKNOWN', 'NAME_UNKNOWN']) {
      const server = await fakeServer((_, response) => refuse(response, 404, code))
      expect(await resolveOne(server)).toEqual({ problem: { kind: 'missing' } })
    }
  })

  test('a tag is missing if the registry answers 404 without an error code', async () => {
    const server = await fakeServer(({ path }, response) =>
      path === '/v2/' ? void response.end('{}') : void response.writeHead(404).end('not found'),
    )
    expect(await resolveOne(server)).toEqual({ problem: { kind: 'missing' } })
  })

  test('a name without a tag means `latest`, and a name with a digest needs no request', async () => {
    const server = await fakeServer((_, response) => giveManifest(response))
    const own = `sha256:${'1'.repeat(64)}`
    const [plain, exact] = [`${server.host}/web`, `${server.host}/web:1@${own}`]
    expect(Object.fromEntries(await resolve([plain, exact, plain]))).toEqual({
      [plain]: { digest: DIGEST },
      [exact]: { digest: own },
    })
    expect(asked(server)).toEqual(['HEAD /v2/web/manifests/latest'])
  })

  test('an invalid reference is reported', async () => {
    const problems = [...(await resolve(['Not An Image', ''])).values()]
    expect(problems.map(one => 'problem' in one && one.problem.kind)).toEqual(['invalid', 'invalid'])
  })
})

describe('addresses', () => {
  test.each([
    ['nginx', 'library/nginx'],
    ['docker.io/nginx', 'library/nginx'],
    ['index.docker.io/team/web', 'team/web'],
    ['team/web', 'team/web'],
    ['localhost/web', 'web'],
    ['127.0.0.1:5000/library/nginx', 'library/nginx'],
    ['Registry/team/web', 'team/web'],
  ])('the image %s is %s in its registry', (name, repository) => {
    expect(repositoryOf(name)).toBe(repository)
  })

  test('an image of Docker Hub has a host that differs from the name of the registry', () => {
    expect(manifestAddressOf({ name: 'nginx', tag: '1.27' })).toEqual({
      registry: 'docker.io',
      host: 'registry-1.docker.io',
      repository: 'library/nginx',
      tag: '1.27',
    })
  })

  test.each([
    ['localhost', true],
    ['registry.localhost', true],
    ['127.1.2.3', true],
    ['[::1]', true],
    ['localhost.example.com', false],
    ['127.0.0.1.example.com', false],
    ['10.0.0.1', false],
  ])('the host %s is this machine: %s', (host, isIt) => {
    expect(isLoopback(host)).toBe(isIt)
  })

  test.each([
    ['https://a.example.com', 'https://b.example.com', true],
    ['https://a.example.com', 'http://a.example.com', false],
    ['https://a.example.com', 'http://127.0.0.1:1', false],
    ['https://a.example.com', 'https://localhost', false],
    ['http://127.0.0.1:1', 'http://localhost:2', true],
    ['http://127.0.0.1:1', 'https://a.example.com', true],
    ['http://127.0.0.1:1', 'http://a.example.com', false],
    ['http://127.0.0.1:1', 'ftp://localhost', false],
  ])('a redirect from %s to %s is safe: %s', (from, to, may) => {
    expect(isSafeStep(new URL(from), new URL(to))).toBe(may)
  })
})

describe('a registry of this machine', () => {
  test('a local registry is reached over TLS if it supports it, with any certificate', async () => {
    const server = await fakeServer((_, response) => giveManifest(response), { key: PRIVATE_KEY, cert: CERTIFICATE })
    expect(await resolveOne(server)).toEqual({ digest: DIGEST })
    expect(asked(server)).toEqual(['GET /v2/', `HEAD ${PATH}`])
  })

  test('a local registry is reached by several names, without the proxy', async () => {
    const server = await fakeServer((_, response) => giveManifest(response))
    const [, port] = server.host.split(':')
    // A browser resolves every name below `localhost` to this machine, and so do the tools of local clusters.
    const names = ['localhost', '127.0.0.1', 'LOCALHOST'].map(host => `${host}:${port}/team/web:1`)
    const env = { HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9', DOCKER_CONFIG: '/nonexistent' }
    const resolved = await resolve(names, { env })
    expect([...resolved.values()]).toEqual(names.map(() => ({ digest: DIGEST })))
  })

  test('a local registry may have an IPv6 address', async () => {
    const server = createHttpServer((_, response) => giveManifest(response))
    try {
      await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '::1', done))
    } catch {
      return // this machine has no IPv6
    }
    const { port } = server.address() as { readonly port: number } // a server that listens has one
    try {
      const names = [`[::1]:${port}/team/web:1`]
      expect([...(await resolve(names)).values()]).toEqual(names.map(() => ({ digest: DIGEST })))
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })
})

describe('parseChallenge', () => {
  const bearer = { scheme: 'bearer', realm: new URL('https://a.example.com/token?x=1') }
  test.each([
    [
      'Bearer realm="https://a.example.com/token?x=1",service="s, t",scope="repository:a/b:pull,push"',
      { ...bearer, service: 's, t', scope: 'repository:a/b:pull,push' },
    ],
    ['bearer realm = "https://a.example.com/token?x=1" , error="invalid\\"token"', bearer],
    ['Basic realm="the registry", Bearer realm="https://a.example.com/token?x=1"', bearer],
    ['Negotiate, Bearer realm=https://a.example.com/token?x=1', bearer],
    ['Basic realm="the registry"', { scheme: 'basic' }],
    ['Basic', { scheme: 'basic' }],
    ['Bearer realm="no address", Basic realm="x"', { scheme: 'basic' }],
    ['Bearer realm="no address"', undefined],
    ['Digest realm="x", nonce="Basic"', undefined],
    ['', undefined],
    ['"', undefined],
    [undefined, undefined],
  ])('parseChallenge reads %s', (header, challenge) => {
    expect(parseChallenge(header)).toEqual(challenge)
  })
})

describe('a token', () => {
  test('a token is requested without a login if there is none', async () => {
    const server = await withTokens(authorization => authorization === undefined)
    expect(await resolveOne(server)).toEqual({ digest: DIGEST })
    expect(asked(server)).toEqual([
      `HEAD ${PATH}`,
      'GET /token?kind=docker&service=the+registry&scope=repository%3Ateam%2Fweb%3Apull',
      `HEAD ${PATH}`,
    ])
  })

  test('a token is requested with the login, which the registry itself never gets', async () => {
    const server = await withTokens(authorization => authorization === BASIC)
    expect(await resolveOne(server, ANN)).toEqual({ digest: DIGEST })
    // The registry itself never sees the password.
    expect(server.requests.filter(({ headers }) => headers.authorization === BASIC)).toHaveLength(1)
  })

  test('a token is requested with an identity token', async () => {
    const server = await withTokens((_, body) => body.includes('refresh_token=identity'))
    expect(await resolveOne(server, { kind: 'token', identityToken: 'identity' })).toEqual({ digest: DIGEST })
    const { method, path, headers, body } = server.requests[1]!
    expect([method, path, headers['content-type']]).toEqual([
      'POST',
      '/token?kind=docker',
      'application/x-www-form-urlencoded',
    ])
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      grant_type: 'refresh_token',
      client_id: 'devctl',
      refresh_token: 'identity',
      service: 'the registry',
      scope: 'repository:team/web:pull',
    })
  })

  test('a token is requested for reading only', async () => {
    const server = await withTokens(
      () => true,
      ({ origin }) => `Bearer realm="${origin}/token",scope="repository:team/web:pull,push,delete"`,
    )
    await resolveOne(server)
    expect(new URL(server.requests[1]!.path, server.origin).searchParams.getAll('scope')).toEqual([
      'repository:team/web:pull',
    ])
  })

  test('a token for a repository is requested once', async () => {
    const server = await withTokens(() => true)
    const references = Array.from({ length: 20 }, (_, index) => `${server.host}/team/web:${index}`)
    const resolved = await resolve(references)
    expect([...resolved.values()]).toEqual(references.map(() => ({ digest: DIGEST })))
    expect(asked(server).filter(one => one.startsWith('GET /token'))).toHaveLength(1)
  })

  test('a login is read from the Docker configuration only if a registry asks for it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'devctl-docker-'))
    const server = await withTokens(authorization => authorization === BASIC)
    const auths = { [server.host]: { auth: BASIC.slice('Basic '.length) } }
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ auths }))
    expect(await resolveOne(server, undefined, { env: { DOCKER_CONFIG: folder } })).toEqual({ digest: DIGEST })

    writeFileSync(join(folder, 'config.json'), 'no JSON')
    await expect(resolveOne(server, undefined, { env: { DOCKER_CONFIG: folder } })).rejects.toThrow(
      'the Docker configuration',
    )
    const open = await fakeServer((_, response) => giveManifest(response))
    expect(await resolveOne(open, undefined, { env: { DOCKER_CONFIG: folder } })).toEqual({ digest: DIGEST })
  })

  test.each([
    ['{"access_token":"abc"}', undefined],
    ['{"token":"","access_token":"abc"}', undefined],
    ['{"token":"abc\\r\\nx-header: 1"}', '`token` contains spaces or other characters that no token has'],
    ['{"token":7}', '`token` must be a string or `null`'],
    ['{"access_token":{"value":"abc"}}', '`access_token` must be a string or `null`'],
    ['{"errors":[{"code":"UNAUTHORIZED"}]}', '`token` is missing'],
    ['null', 'it must be an object'],
    ['<html><title>Sign in</title>', 'it is a web page'],
  ])('a token service may answer %s', async (text, why) => {
    const server = await fakeServer(({ path, headers }, response, { origin }) => {
      if (path.startsWith('/token')) return void response.end(text)
      if (headers.authorization === 'Bearer abc') return giveManifest(response)
      refuse(response, 401, 'UNAUTHORIZED', { 'www-authenticate': `Bearer realm="${origin}/token"` })
    })
    const answer = await resolveOne(server)
    if (why === undefined) expect(answer).toEqual({ digest: DIGEST })
    else
      expect(answer).toMatchObject({
        problem: {
          kind: 'not-a-registry',
          reason: `its token service, \`${server.host}\`, does not answer with a token: ${why}`,
        },
      })
  })
})

describe('missing permissions', () => {
  const basic = (isRight: (authorization: string | undefined) => boolean, status = 401) =>
    fakeServer(({ headers }, response) =>
      isRight(headers.authorization)
        ? giveManifest(response)
        : refuse(response, status, 'DENIED', { 'www-authenticate': 'Basic realm="x"' }),
    )

  test('a request is repeated with the login that the registry asks for', async () => {
    const server = await basic(authorization => authorization === BASIC)
    expect(await resolveOne(server, ANN)).toEqual({ digest: DIGEST })
    expect(server.requests[0]!.headers.authorization).toBeUndefined()
  })

  test('a refusal tells whether there was no login, an insufficient one or a wrong one', async () => {
    const said = 'DENIED: the words for DENIED'
    const never = await basic(() => false)
    expect(await resolveOne(never)).toEqual({ problem: { kind: 'denied', login: 'none' } })
    expect(await resolveOne(never, ANN)).toEqual({ problem: { kind: 'denied', login: 'refused' } })
    // A wrong password is sent only once, because some servers count the attempts.
    expect(never.requests).toHaveLength(1 + 2)
    const insufficient = await fakeServer(({ headers }, response) =>
      headers.authorization === BASIC
        ? refuse(response, 403, 'DENIED')
        : refuse(response, 401, 'UNAUTHORIZED', { 'www-authenticate': 'Basic realm="x"' }),
    )
    expect(await resolveOne(insufficient, ANN)).toEqual({ problem: { kind: 'denied', login: 'sent', said } })
    // The reason is in the answer to GET; HEAD has no body.
    const forbidden = await basic(() => false, 403)
    expect(await resolveOne(forbidden, ANN)).toEqual({ problem: { kind: 'denied', login: 'none', said } })
    expect(asked(forbidden)).toEqual([`HEAD ${PATH}`, `GET ${PATH}`])
    const tokens = await withTokens(() => false)
    const unauthorized = 'UNAUTHORIZED: the words for UNAUTHORIZED'
    expect(await resolveOne(tokens)).toEqual({ problem: { kind: 'denied', login: 'none', said: unauthorized } })
    expect(await resolveOne(tokens, ANN)).toEqual({ problem: { kind: 'denied', login: 'refused', said: unauthorized } })
    const whole = await fakeServer(({ method }, response) =>
      method === 'HEAD' ? giveManifest(response, '') : refuse(response, 403, 'DENIED'),
    )
    expect(await resolveOne(whole)).toEqual({ problem: { kind: 'denied', login: 'none', said } })
  })

  test('a token that the registry does not accept is not requested again', async () => {
    const server = await fakeServer(({ path }, response, { origin }) =>
      path.startsWith('/token')
        ? void response.end('{"token":"abc"}')
        : refuse(response, 401, 'UNAUTHORIZED', { 'www-authenticate': `Bearer realm="${origin}/token"` }),
    )
    expect(await resolveOne(server, ANN)).toEqual({ problem: { kind: 'denied', login: 'sent' } })
    expect(server.requests).toHaveLength(3)
  })
})

describe('redirects', () => {
  test('redirects to another server are followed without credentials', async () => {
    const other = await fakeServer((_, response) => giveManifest(response))
    const server = await fakeServer(({ headers }, response) =>
      headers.authorization === BASIC
        ? void response.writeHead(307, { location: `${other.origin}/elsewhere` }).end()
        : refuse(response, 401, 'UNAUTHORIZED', { 'www-authenticate': 'Basic realm="x"' }),
    )
    expect(await resolveOne(server, ANN)).toEqual({ digest: DIGEST })
    expect(asked(other)).toEqual(['HEAD /elsewhere'])
    expect(other.requests[0]!.headers.authorization).toBeUndefined()
  })

  test('redirects within a registry keep the credentials', async () => {
    const server = await fakeServer(({ path, headers }, response) => {
      if (headers.authorization !== BASIC)
        return refuse(response, 401, 'UNAUTHORIZED', { 'www-authenticate': 'Basic realm="x"' })
      return path === PATH ? void response.writeHead(302, { location: '/mirror' }).end() : giveManifest(response)
    })
    expect(await resolveOne(server, ANN)).toEqual({ digest: DIGEST })
    expect(asked(server).at(-1)).toBe('HEAD /mirror')
  })

  test('redirects do not allow the other server to get credentials', async () => {
    const other = await fakeServer((_, response) =>
      refuse(response, 401, 'UNAUTHORIZED', { 'www-authenticate': 'Basic realm="give me"' }),
    )
    const server = await fakeServer(
      (_, response) => response.writeHead(307, { location: `${other.origin}/elsewhere` }).end() && undefined,
    )
    expect(await resolveOne(server, ANN)).toEqual({ problem: { kind: 'denied', login: 'none' } })
    for (const { headers } of [...server.requests, ...other.requests]) expect(headers.authorization).toBeUndefined()
  })

  test.each(['/again', 'http://registry.example.com/', 'ftp://localhost/', 'http://[bad/'])(
    'redirects to %s end with an error',
    async location => {
      const server = await fakeServer((_, response) => void response.writeHead(301, { location }).end())
      expect(await resolveOne(server)).toMatchObject({ problem: { kind: 'not-a-registry' } })
      expect(server.requests.length).toBeLessThanOrEqual(6)
    },
  )

  test('a token service that redirects or has no encryption gets no credentials', async () => {
    const away = await withTokens(
      () => true,
      () => 'Bearer realm="http://registry.example.com/token"',
    )
    expect(await resolveOne(away, ANN)).toMatchObject({
      problem: { kind: 'not-a-registry', reason: expect.stringContaining('`registry.example.com`') },
    })
    const other = await fakeServer((_, response) => void response.end('{"token":"abc"}'))
    const server = await fakeServer(({ path, body }, response, { origin }) => {
      if (path === '/token') return void response.writeHead(307, { location: `${other.origin}/${body}` }).end()
      refuse(response, 401, 'UNAUTHORIZED', { 'www-authenticate': `Bearer realm="${origin}/token"` })
    })
    const identity = { kind: 'token', identityToken: 'identity' } as const
    expect(await resolveOne(server, identity)).toMatchObject({ problem: { kind: 'not-a-registry' } })
    expect(other.requests).toEqual([])
  })
})

describe('temporary failures', () => {
  test.each([429, 500, 502, 503])('a request is sent again after status %i', async status => {
    let count = 0
    const server = await fakeServer((_, response) =>
      ++count < 4 ? refuse(response, status, 'TOOMANYREQUESTS') : giveManifest(response),
    )
    expect(await resolveOne(server)).toEqual({ digest: DIGEST })
    expect(server.requests).toHaveLength(4)
  })

  test('a request is sent again after the connection was cut', async () => {
    let count = 0
    const server = await fakeServer(({ method }, response) => {
      if (++count % 2 === 1) return void response.socket!.destroy()
      giveManifest(response, method === 'HEAD' ? '' : DIGEST)
    })
    expect(await resolveOne(server)).toEqual({ digest: DIGEST })
    expect(asked(server)).toEqual([`HEAD ${PATH}`, `HEAD ${PATH}`, `GET ${PATH}`, `GET ${PATH}`])
  })

  test('a request is sent again after an incomplete answer and after silence', async () => {
    let count = 0
    const server = await fakeServer(({ method }, response) => {
      if (method === 'HEAD') return giveManifest(response, '')
      count++
      if (count === 1) return
      if (count > 2) return giveManifest(response)
      response.writeHead(200, { 'content-length': 1000 }).write('{')
      setImmediate(() => response.socket!.destroy())
    })
    expect(await resolveOne(server, undefined, { retries: { silence: 500 } })).toEqual({ digest: DIGEST })
    expect(count).toBe(3)
  })

  test('a request fails when its attempts are used up', async () => {
    const server = await fakeServer((_, response) => refuse(response, 429, 'TOOMANYREQUESTS', { 'retry-after': '0' }))
    expect(await resolveOne(server)).toEqual({ problem: { kind: 'busy', status: 429 } })
    expect(server.requests).toHaveLength(5)
    const dead = await fakeServer((_, response) => void response.socket!.destroy())
    expect(await resolveOne(dead)).toMatchObject({ problem: { kind: 'unreachable' } })
    expect(dead.requests).toHaveLength(5)
  })

  test('a silent registry gets few requests, and all its images fail with one reason', async () => {
    const silent = await fakeServer(() => {})
    const references = Array.from({ length: 30 }, (_, index) => `${silent.host}/web:${index}`)
    const resolved = await resolve(references, { retries: { silence: 50 } })
    const reason = `\`${silent.host}\` does not answer in time`
    expect([...resolved.values()]).toEqual(references.map(() => ({ problem: { kind: 'unreachable', reason } })))
    expect(silent.requests.length).toBeLessThanOrEqual(2 * 8)
  })

  test.each([{ 'retry-after': '3600' }, { 'retry-after': 'Fri, 31 Dec 2199 23:59:59 GMT' }])(
    'a request fails at once if the registry asks for a long pause: %o',
    async headers => {
      const server = await fakeServer((_, response) => refuse(response, 429, 'TOOMANYREQUESTS', headers))
      expect(await resolveOne(server)).toEqual({ problem: { kind: 'busy', status: 429 } })
      expect(server.requests).toHaveLength(1)
    },
  )

  test('the signal ends requests and pauses', async () => {
    const reason = new Error('the time is over')
    const stop = new AbortController()
    const silent = await fakeServer(() => stop.abort(reason))
    await expect(resolveOne(silent, undefined, { signal: stop.signal })).rejects.toBe(reason)

    const pausing = new AbortController()
    const busy = await fakeServer((_, response) => {
      refuse(response, 503, 'UNAVAILABLE')
      setImmediate(() => pausing.abort(reason))
    })
    const retries = { pause: 60_000 }
    await expect(resolveOne(busy, undefined, { signal: pausing.signal, retries })).rejects.toBe(reason)
    await expect(resolveOne(busy, undefined, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })

  test('a registry gets at most eight requests at the same time', async () => {
    let open = 0
    let most = 0
    const server = await fakeServer(async (_, response) => {
      most = Math.max(most, ++open)
      await new Promise(resolve => setTimeout(resolve, 5))
      open--
      giveManifest(response)
    })
    const references = Array.from({ length: 40 }, (_, index) => `${server.host}/web:${index}`)
    expect((await resolve(references)).size).toBe(40)
    expect(most).toBeLessThanOrEqual(8)
  })
})

describe('servers that are not registries', () => {
  const html = { 'content-type': 'text/html' }
  test.each([
    [200, html, '<html>', 'it does not answer with a manifest (`text/html`): it is a web page'],
    [200, {}, '{}', 'it does not answer with a manifest: `schemaVersion` is missing'],
    [200, {}, '{"schemaVersion":"2"}', 'it does not answer with a manifest: `schemaVersion` must be `2`'],
    [
      200,
      { 'content-type': 'application/vnd.docker.distribution.manifest.v1+prettyjws' },
      '{"schemaVersion":1}',
      'schema 1',
    ],
    [404, html, '<html>', 'answers `/v2/` with status 404'],
    [400, {}, '', 'with status 400'],
    [200, {}, ' '.repeat(5_000_000), 'larger than 4 MiB'],
  ])('an answer with status %i and headers %o is not from a registry', async (status, headers, body, reason) => {
    const server = await fakeServer((_, response) => void response.writeHead(status, headers).end(body))
    expect(await resolveOne(server)).toEqual({
      problem: { kind: 'not-a-registry', reason: expect.stringContaining(reason) },
    })
  })

  test('a manifest that does not match the reported digest is refused', async () => {
    const server = await fakeServer(({ method }, response) =>
      giveManifest(response, method === 'HEAD' ? '' : DIGEST, `${MANIFEST} `),
    )
    expect(await resolveOne(server)).toMatchObject({ problem: { kind: 'not-a-registry' } })
  })

  test('a server that does not speak HTTP is unreachable', async () => {
    const server = createServer(socket => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number } // a server that listens to a port has one
    const [answer] = (await resolve([`127.0.0.1:${port}/web`])).values()
    server.close()
    expect(answer).toMatchObject({ problem: { kind: 'unreachable' } })
  })

  test('a port with no listener is reported without another attempt', async () => {
    const server = await fakeServer(() => {})
    const free = createServer()
    await new Promise<void>(resolve => free.listen(0, '127.0.0.1', resolve))
    const { port } = free.address() as { port: number } // a server that listens to a port has one
    await new Promise(resolve => free.close(resolve))
    const [answer] = (await resolve([`127.0.0.1:${port}/web`], { retries: { pause: 60_000 } })).values()
    expect(answer).toMatchObject({
      problem: { kind: 'unreachable', reason: `nothing listens at \`127.0.0.1:${port}\`` },
    })
    expect(server.requests).toEqual([])
  })

  test('the proxy of the environment gets the host and its own login only', async () => {
    const asked: unknown[] = []
    const proxy = createHttpServer()
    let status = '407 Proxy Authentication Required'
    proxy.on('connect', ({ url, headers }, client) => {
      asked.push([url, headers['proxy-authorization']])
      client.end(`HTTP/1.1 ${status}\r\n\r\n`)
    })
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
    const { port } = proxy.address() as { port: number } // a server that listens to a port has one
    const env = { DOCKER_CONFIG: '/nonexistent', HTTPS_PROXY: `http://ann:p%40ss@127.0.0.1:${port}` }
    const ask = async () => [...(await resolve(['registry.example.com/web'], { env })).values()][0]
    expect(await ask()).toMatchObject({
      problem: { kind: 'unreachable', reason: `the proxy \`127.0.0.1:${port}\` answers 407` },
    })
    expect(asked).toEqual([['registry.example.com:443', `Basic ${Buffer.from('ann:p@ss').toString('base64')}`]])
    // The tunnel exists, but its other end does not speak TLS.
    status = '200 OK'
    expect(await ask()).toMatchObject({ problem: { kind: 'unreachable' } })
    proxy.close()
    expect(await ask()).toMatchObject({
      problem: { reason: expect.stringMatching(/^the proxy `127.0.0.1:\d+` cannot be reached: connect ECONNREFUSED/) },
    })
  })
})

describe('messages', () => {
  test.each([
    ['ENOTFOUND', 'the name `r.example.com` does not resolve'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'the certificate of `r.example.com:1` is not trusted (why)'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'the certificate of `r.example.com:1` is not trusted (why)'],
    ['EPROTO', '`r.example.com:1` does not speak TLS'],
    ['EHOSTUNREACH', 'no route to `r.example.com:1`'],
    ['ETIMEDOUT', '`r.example.com:1` does not answer in time'],
    ['ECONNRESET', 'the connection to `r.example.com:1` was cut'],
    ['EWHATEVER', 'the connection to `r.example.com:1` failed: why'],
  ])('toUnreachable explains %s', (code, reason) => {
    const error = Object.assign(new Error('why'), { code })
    expect(toUnreachable(error, new URL('https://r.example.com:1/v2/')).problem).toMatchObject({ reason })
  })

  test('describeProblem explains each kind of problem', () => {
    const image = 'r.example.com/web:1'
    const texts = [
      { kind: 'invalid', reason: 'it is empty', hint: 'write one' },
      { kind: 'missing' },
      { kind: 'denied', login: 'none' },
      { kind: 'denied', login: 'sent', said: 'DENIED: no' },
      { kind: 'denied', login: 'refused' },
      { kind: 'unreachable', reason: 'nothing listens there', hint: 'check it' },
      { kind: 'busy', status: 429 },
      { kind: 'busy', status: 503 },
      { kind: 'not-a-registry', reason: 'it gives something else' },
    ] as const
    expect(texts.map(problem => describeProblem(image, problem))).toMatchInlineSnapshot(`
      [
        {
          "hint": "write one",
          "message": "\`r.example.com/web:1\` is not a valid image reference: it is empty",
          "notes": [],
        },
        {
          "hint": "push it first (\`docker push r.example.com/web:1\`), or name an image that exists",
          "message": "the registry \`r.example.com\` has no \`r.example.com/web:1\`",
          "notes": [],
        },
        {
          "hint": "check the name, or log in: \`docker login r.example.com\`",
          "message": "\`r.example.com\` requires a login for \`r.example.com/web:1\`, or it does not exist",
          "notes": [],
        },
        {
          "hint": "check the name, or log in with an account that may read it: \`docker login r.example.com\`",
          "message": "the login for \`r.example.com\` may not read \`r.example.com/web:1\`, or it does not exist",
          "notes": [
            "the registry says: DENIED: no",
          ],
        },
        {
          "hint": "log in again: \`docker login r.example.com\`",
          "message": "the registry \`r.example.com\` rejected the login in the Docker configuration",
          "notes": [],
        },
        {
          "hint": "check it",
          "message": "the registry \`r.example.com\` cannot be asked for \`r.example.com/web:1\`: nothing listens there",
          "notes": [],
        },
        {
          "hint": "log in (\`docker login r.example.com\`), or try again later",
          "message": "the registry \`r.example.com\` refuses more requests for now, so \`r.example.com/web:1\` has no digest",
          "notes": [],
        },
        {
          "hint": "try again later",
          "message": "the registry \`r.example.com\` is failing (status 503), so \`r.example.com/web:1\` has no digest",
          "notes": [],
        },
        {
          "hint": "check the name of the registry in \`r.example.com/web:1\`",
          "message": "what answers at \`r.example.com\` is not an image registry: it gives something else",
          "notes": [],
        },
      ]
    `)
    expect(describeProblem('nginx', { kind: 'denied', login: 'none' }).hint).toContain('`docker login`')
  })

  test('problems and their messages contain no secrets', async () => {
    const told: unknown[] = []
    for (const status of [200, 400, 401, 403, 404, 429, 500]) {
      const server = await fakeServer(({ path, headers }, response, { origin }) =>
        path.startsWith('/token') || headers.authorization
          ? refuse(response, status, 'DENIED')
          : refuse(response, 401, 'UNAUTHORIZED', { 'www-authenticate': `Bearer realm="${origin}/token"` }),
      )
      const answer = await resolveOne(server, ANN)
      if (answer && 'problem' in answer) told.push(answer, describeProblem('x', answer.problem))
      told.push(await resolveOne(server, { kind: 'token', identityToken: PASSWORD }))
    }
    expect(told).toHaveLength(21)
    expect(JSON.stringify(told)).not.toMatch(new RegExp(`${PASSWORD}|${BASIC.slice(6)}`))
  })
})
