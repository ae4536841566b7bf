import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApp } from '../../../platform/server/http/app.ts'
import { buildctlEnv, findBuildkit } from '../../support/buildkit/buildkit.ts'
import { findBuildkitd, type OwnBuildkit, ownBuildkit } from '../../support/buildkit/own-buildkit.ts'
import { REGISTRY } from '../../support/buildkit/slow-project.ts'
import { root } from '../../support/cases.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { lacks } from '../../support/lacks.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { run } from '../../support/run.ts'

// Tests `devctl build` with a platform as its context, which uses a real BuildKit.

const UPGRADE = 'Connection: Upgrade\r\nUpgrade: devctl-tunnel\r\n'
const address = process.env.KUBECONFIG ? findBuildkit() : undefined
const buildkitd = findBuildkitd()

describe.skipIf(lacks('BuildKit', address === undefined))('the build service', () => {
  let platform: TestPlatform
  let [ann, bob]: Person[] = []
  let url: string
  const folder = mkdtempSync(join(tmpdir(), 'devctl-builders-'))

  beforeAll(async () => {
    platform = await openPlatform({ builders: { default: [address!], untrusted: [], atOnce: 4 } })
    ;[ann, bob] = await platform.people('ann', 'bob')
    url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
    cpSync(join(root, 'examples/build'), join(folder, 'example'), { recursive: true })
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await platform?.close()
  })

  const devctl = (line: string, who = ann!, more: Readonly<Record<string, string>> = {}) =>
    run(['--loglevel', 'info', ...line.split(' ')], {
      cwd: join(folder, 'example'),
      env: {
        HOME: folder,
        DEVCTL_HOME: join(folder, who.id),
        PATH: process.env.PATH!,
        SIGNING_KEY: 'k',
        DEVCTL_URL: url,
        DEVCTL_TOKEN: who.token,
        DEVCTL_NAMESPACE: ann!.home,
        ...more,
      },
    })
  const registry = `${REGISTRY}/platform-${RUN}`

  test('devctl build builds and pushes the images of an example by the platform', async () => {
    const { status, stderr, stdout } = await devctl(`build --registry ${registry} --no-cache`)
    expect(status, stderr).toBe(0)
    expect(stderr).toContain(`building with the platform ${new URL(url).host}`)
    expect(stdout + stderr).toMatch(/mailer: \S+@sha256:/)
    expect(platform.audit).toContainEqual(
      expect.objectContaining({
        action: 'connect to builders',
        user: ann!.id,
        what: { namespace: ann!.home },
        status: 101,
      }),
    )
  })

  test('devctl build of a Dockerfile uses the platform, unless `BUILDKIT_HOST` names a builder', async () => {
    const line = 'build --file site/Dockerfile site'
    const own = await devctl(line)
    expect([own.status, own.stderr]).toEqual([0, expect.stringContaining('which is that of the platform')])
    const named = await devctl(line, ann, { BUILDKIT_HOST: address! })
    expect(named.stderr).toContain('which is that of `BUILDKIT_HOST`')
  })

  test('the platform refuses builds for a namespace to users who may not deploy there', async () => {
    const refused = await devctl(`build --push=false`, bob)
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`namespace \`${ann!.home}\` does not exist, or you are not a member of it`),
    ])
    const body = { role: 'viewer' }
    await platform.call('PUT /namespaces/:ns/members/:user', {
      token: ann!.token,
      params: { ns: ann!.home, user: bob!.id },
      body,
    })
    const viewer = await devctl(`build --push=false`, bob)
    expect([viewer.status, viewer.stderr]).toEqual([
      1,
      expect.stringContaining(`only the owner or a developer of \`${ann!.home}\` may deploy there`),
    ])
    // The command requests variables first; a connection without that request is refused, too.
    expect(await send(connection(bob!.token, UPGRADE))).toMatch(/^HTTP\/1.1 403 /)
  })

  test('the platform refuses a build with a token for other namespaces', async () => {
    const { text } = await platform.parts.tokens.issue({
      kind: 'run',
      label: '',
      user: ann!.id,
      namespaces: ['another'],
    })
    const refused = await devctl(`build --push=false`, { ...ann!, token: text })
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`namespace \`${ann!.home}\` does not exist, or you are not a member of it`),
    ])
    expect(await send(connection(text, UPGRADE))).toMatch(/^HTTP\/1.1 404 /)
    expect(await send(connection(ann!.token, UPGRADE), /101/)).toMatch(/^HTTP\/1.1 101 /)
  })

  test('a build with an entitlement fails with the message of the platform', async () => {
    writeFileSync(join(folder, 'example/Dockerfile.host'), 'FROM busybox\nRUN --network=host true\n')
    writeFileSync(
      join(folder, 'example/host.yaml'),
      'services: {web: {build: {context: ., dockerfile: Dockerfile.host, network: host}}}\n',
    )
    const refused = await devctl(`build --file host.yaml --push=false`)
    expect(refused.status).toBe(1)
    expect(refused.stderr).toContain('builds get no entitlements: `network.host` is refused')
  })

  test('a build leaves out caches of other repositories with a warning', async () => {
    writeFileSync(
      join(folder, 'example/cache.yaml'),
      `services: {web: {build: {context: site, cache_from: ["${REGISTRY}/evil/cache"]}}}\n`,
    )
    const built = await devctl(`build --file cache.yaml --push=false`)
    expect([built.status, built.stderr]).toEqual([0, expect.stringContaining('`cache_from` is left out')])
  })

  test('the running build of a member ends when the member is removed', async () => {
    const body = { role: 'developer' }
    const params = { ns: ann!.home, user: bob!.id }
    await platform.call('PUT /namespaces/:ns/members/:user', { token: ann!.token, params, body })
    writeFileSync(
      join(folder, 'example/slow.yaml'),
      'services: {web: {build: {context: site, dockerfile_inline: "FROM busybox\\nRUN sleep 71"}}}\n',
    )
    const building = devctl(`build --file slow.yaml --push=false`, bob)
    const connected = { action: 'connect to builders', user: bob!.id, status: 101 }
    await eventually(
      'the build has its connection',
      async () =>
        platform.audit.some(({ action, user, status }) => isDeepStrictEqual({ action, user, status }, connected)) ||
        undefined,
    )
    await platform.call('DELETE /namespaces/:ns/members/:user', { token: ann!.token, params })
    const began = Date.now()
    const { status } = await building
    expect(status).toBe(1)
    expect(Date.now() - began).toBeLessThan(45_000)
  })

  test('the platform opens no builder connection for browser pages or without an upgrade', async () => {
    const head = (more: string) => connection(ann!.token, more)
    expect(await send(head(''))).toMatch(/^HTTP\/1.1 426 /)
    expect(await send(head(`${UPGRADE}Origin: https://web-${ann!.home}.dev.example.com\r\n`))).toMatch(
      /^HTTP\/1.1 403 /,
    )
    expect(await send(head(UPGRADE).replace(/Authorization.*\r\n/, ''))).toMatch(/^HTTP\/1.1 401 /)
    expect(await send(head(UPGRADE).replace('GET', 'POST'))).toMatch(/^HTTP\/1.1 400 /)
    expect(await send(head(UPGRADE), /101/)).toMatch(/^HTTP\/1.1 101 /)
  })

  describe.skipIf(lacks('buildkitd', buildkitd === undefined))('builders for code of forks', () => {
    let daemon: OwnBuildkit
    let forks: TestPlatform
    let [there, owner]: [string, typeof ann] | [] = []

    beforeAll(async () => {
      daemon = await ownBuildkit(buildkitd!)
      forks = await openPlatform({
        builders: { default: [address!], untrusted: [daemon.address], atOnce: 4 },
        previewsPerUser: 9,
      })
      owner = await forks.person('owner')
      there = await forks.app.listen({ port: 0, host: '127.0.0.1' })
    })
    afterAll(async () => {
      await forks?.close()
      await daemon?.close()
    })

    /** Creates a namespace, for code of a fork if wanted, and a token of a run there. */
    async function fork(name: string, trust?: 'fork') {
      const user = (await forks.parts.users.find(owner!.id))!
      const preview = { repository: 'https://git.example.com/eve/shop', labels: [] }
      const expires = new Date(Date.now() + 3_600_000).toISOString()
      await forks.parts.namespaces.create(user, name, 'preview', {
        preview,
        ...(trust && { isUntrusted: true, expires }),
      })
      const run = { kind: 'run', label: '', user: user.id, namespaces: [name], ...(trust && { trust }) } as const
      const { text } = await forks.parts.tokens.issue(run)
      return { DEVCTL_URL: there!, DEVCTL_TOKEN: text, DEVCTL_NAMESPACE: name }
    }
    const built = (env: Readonly<Record<string, string>>) =>
      devctl(`build --file forks.yaml --push=false`, owner, { DEVCTL_HOME: join(folder, randomUUID()), ...env })

    const EMPTY = /^Total:\s+0B/m
    /** Returns the disk usage of the builder for forks. */
    async function used(): Promise<string> {
      const args = ['--addr', daemon.address, 'du']
      return (await promisify(execFile)('buildctl', args, { env: buildctlEnv })).stdout
    }

    test('code of forks uses separate builders, which keep no cache', async () => {
      writeFileSync(
        join(folder, 'example/forks.yaml'),
        `services: {web: {build: {context: site, dockerfile_inline: "FROM scratch\\nCOPY . /${RUN}"}}}\n`,
      )
      const [one, other] = [await fork(`one-${RUN}`, 'fork'), await fork(`other-${RUN}`, 'fork')]
      const [own, second] = [await fork(`own-${RUN}`), await fork(`second-${RUN}`)]
      /**
       * Returns true if the copied files, which are the same in all builds, came from the cache of an earlier build.
       */
      const isCached = async (env: Readonly<Record<string, string>>) => {
        const { status, stderr } = await built(env)
        expect([status, stderr]).toEqual([0, expect.stringContaining('COPY')])
        return /\] COPY .*\n#\d+ CACHED/.test(stderr)
      }
      expect([await isCached(own), await isCached(second)]).toEqual([false, true])
      expect(await used()).toMatch(EMPTY)
      expect(await isCached(one)).toBe(false)
      expect(await used()).not.toMatch(EMPTY)
      expect([await isCached(one), await isCached(other)]).toEqual([false, false])
    })

    test('a build of a fork without such builders names the option that adds them', async () => {
      const { untrusted: _, ...pools } = forks.parts.pools
      const app = createApp(forks.world, { ...forks.parts, pools })
      const bare = await app.listen({ port: 0, host: '127.0.0.1' })
      try {
        const { status, stderr } = await built({ ...(await fork(`bare-${RUN}`, 'fork')), DEVCTL_URL: bare })
        expect([status, stderr]).toEqual([1, expect.stringContaining('no builders for code of forks')])
        expect(stderr).toContain('devctl platform install --untrusted-builders 1')
      } finally {
        await app.close()
      }
    })
  })

  /** Returns the head of a request for a connection. */
  function connection(token: string, more: string): string {
    return `GET /api/v1/builders/connect?namespace=${ann!.home} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`
  }

  /** Sends a request; returns the response once its headers are complete, or once it matches `wanted`. */
  async function send(text: string, wanted?: RegExp): Promise<string> {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname).on('error', () => {})
    socket.write(text)
    let answer = ''
    socket.on('data', data => {
      answer += data
    })
    try {
      return await eventually('an answer', async () =>
        (wanted ? wanted.test(answer) : answer.includes('\r\n\r\n')) ? answer : undefined,
      )
    } finally {
      socket.destroy()
    }
  }
})
