import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { layerOf } from '../../../adapters/registry/artifact-manifest.ts'
import { unpack } from '../../../gitops/artifact/archive.ts'
import { write } from '../../support/cli/folder.ts'
import { git } from '../../support/git/git.ts'
import { COMPOSE, leftIn, type Publishing, publishing } from '../../support/git/publishing.ts'
import { refuse } from '../../support/registry/fake-registry.ts'
import { type MemoryRegistry, memoryRegistry } from '../../support/registry/memory-registry.ts'
import { run } from '../../support/run.ts'
import { few, longTest } from '../../support/takes-all.ts'
import { leakIn } from './leaks.ts'

/** Creates an application and a registry that it is pushed to. */
async function begin(environment = '', registry?: MemoryRegistry) {
  const there = registry ?? (await memoryRegistry())
  const app = await publishing({ environment })
  const push = (...words: readonly string[]) => app.publish('--oci', there.name, ...words)
  return { app, registry: there, push }
}

const manifestAt = ({ manifests }: MemoryRegistry, tag = 'staging') => JSON.parse(manifests.get(tag)!.bytes.toString())

/** Returns the files of the artifact. */
function filesAt(registry: MemoryRegistry, tag = 'staging'): Readonly<Record<string, string>> {
  const { digest } = layerOf(registry.manifests.get(tag)!.bytes)!
  return Object.fromEntries(unpack(registry.blobs.get(digest)!)!)
}

const changed = (app: Publishing, image = 'nginx:1.29') =>
  app.change({ 'compose.yaml': COMPOSE.replace('nginx:1.27', image) })

describe('publish --oci', () => {
  test('publish --oci pushes the files that it would commit', async () => {
    const { app, registry, push } = await begin()
    const { status, stdout, stderr } = await push()
    expect(status, stderr).toBe(0)
    expect(stdout).toMatch(/^deploy\(shop\/staging\): \d objects added\n/)
    expect(stdout).toMatch(/\n127\.0\.0\.1:\d+\/team\/shop:staging@sha256:[0-9a-f]{64}\n$/)
    await app.publish()
    const committed = Object.entries(await app.tree()).map(
      ([path, text]) => [path.replace('environments/staging/shop/', ''), text] as const,
    )
    const { 'README.md': _, '.devctl.lock': lock, ...pushed } = filesAt(registry)
    const { 'README.md': __, '.devctl.lock': ___, ...others } = Object.fromEntries(committed)
    expect(pushed).toEqual(others)
    expect(parse(lock!)).toMatchObject({ application: 'shop', environment: 'staging', namespace: 'shop-staging' })
    expect(leftIn(app.temporary)).toEqual([])
  })

  test('publish --oci annotates the source, and the digest does not depend on the time', async () => {
    const { app, registry, push } = await begin()
    await git(app.source, 'remote', 'add', 'origin', 'git@github.com:acme/shop.git')
    const first = JSON.parse((await push('--output', 'json')).stdout)
    expect(manifestAt(registry).annotations).toEqual({
      'org.opencontainers.image.created': await git(app.source, 'log', '-1', '--format=%cI'),
      'org.opencontainers.image.revision': await git(app.source, 'rev-parse', 'HEAD'),
      'org.opencontainers.image.source': 'https://github.com/acme/shop',
    })
    expect(first.tags).toEqual(['staging', `staging-${first.digest.slice(7, 19)}`])
    // An empty registry gets the same artifact.
    registry.manifests.clear()
    registry.blobs.clear()
    expect(JSON.parse((await push('--output', 'json')).stdout).digest).toBe(first.digest)
  })

  test('publish --oci pushes nothing if no file differs', async () => {
    const { app, registry, push } = await begin()
    const { digest } = JSON.parse((await push('--output', 'json')).stdout)
    await app.change({ 'README.md': 'of the source' })
    const before = registry.requests.length
    const { stdout } = await push()
    expect(stdout).toMatch(/^unchanged: 127.* already holds what compose.yaml at [0-9a-f]{7} renders to\n/)
    expect(stdout).toContain(digest)
    expect(
      registry
        .asked()
        .slice(before)
        .every(one => /^(GET|HEAD) /.test(one)),
    ).toBe(true)
    expect((await push('--verify')).stdout).toMatch(/^verified: /)
  })

  test('publish --oci reports changes and keeps the previous artifact under its own tag', async () => {
    const { app, registry, push } = await begin()
    const first = JSON.parse((await push('--output', 'json')).stdout)
    await changed(app)
    const planned = await push('--dry-run')
    expect(planned.stdout).toContain('+ nginx:1.29')
    expect(registry.manifests.size).toBe(2)
    expect((await push('--verify')).status).toBe(1)
    const { stdout } = await push()
    expect(stdout).toMatch(
      /^deploy\(shop\/staging\): web 1.27 → 1.29\n~ deployment\/web\n {4}spec\..*: nginx:1.27 → nginx:1.29\n/,
    )
    expect(filesAt(registry)['web/deployment-web.yaml']).toContain('nginx:1.29')
    expect(filesAt(registry, first.tags[1])['web/deployment-web.yaml']).toContain('nginx:1.27')
  })

  test('publish --oci replaces a newer source only with --rollback', async () => {
    const { app, registry, push } = await begin()
    const old = await git(app.source, 'rev-parse', 'HEAD')
    const newest = await changed(app)
    await push()
    await git(app.source, 'checkout', '--quiet', old)
    const { stdout, status } = await push()
    expect(status).toBe(0)
    expect(stdout).toContain(`holds ${newest.slice(0, 7)}, which is newer than ${old.slice(0, 7)}`)
    expect(filesAt(registry)['web/deployment-web.yaml']).toContain('nginx:1.29')
    expect((await push('--rollback')).status).toBe(0)
    expect(filesAt(registry)['web/deployment-web.yaml']).toContain('nginx:1.27')
  })

  test('publish --oci detects a newer source that is pushed during its own push', async () => {
    let beforeTag: (() => Promise<unknown>) | undefined
    const registry = await memoryRegistry(async ({ method, path }) => {
      const run = method === 'HEAD' && path.endsWith('/manifests/staging') ? beforeTag : undefined
      beforeTag = run ? undefined : beforeTag
      await run?.()
      return false
    })
    const { app, push } = await begin('', registry)
    await push()
    const older = await changed(app, 'nginx:1.28')
    await changed(app, 'nginx:1.29')
    const other = await publishing()
    await git(other.source, 'fetch', '--quiet', app.source, 'main')
    await git(other.source, 'reset', '--quiet', '--hard', older)
    // The newer one arrives while the older one is about to move the tag.
    beforeTag = async () => expect((await push()).status).toBe(0)
    await git(other.source, 'fetch', '--quiet', app.source, 'main:refs/heads/newest')
    const late = await other.publish('--oci', registry.name)
    expect(late.stdout).toMatch(/^skipped: /)
    expect(filesAt(registry)['web/deployment-web.yaml']).toContain('nginx:1.29')
  })

  test('publish --oci refuses a secret and sends no request', async () => {
    const { app, registry, push } = await begin()
    await app.change({
      'compose.yaml': COMPOSE.replace('redis:7', 'redis:7\n    environment: {API_TOKEN: Zk83hfUw02kdLs9d}'),
    })
    const { status, stderr } = await push()
    expect(status).toBe(1)
    expect(stderr).toContain('API_TOKEN')
    expect(stderr).not.toContain('Zk83hfUw02kdLs9d')
    expect(registry.requests).toEqual([])
  })

  test('publish --oci of uncommitted files has no revision annotation', async () => {
    const { app, registry, push } = await begin()
    await app.change({ 'compose.yaml': COMPOSE })
    const { write } = await import('../../support/cli/folder.ts')
    write(app.source, { 'compose.yaml': COMPOSE.replace('nginx:1.27', 'nginx:1.30') })
    expect((await push()).stderr).toContain('uncommitted changes')
    expect(Object.keys(manifestAt(registry).annotations)).toEqual(['org.opencontainers.image.created'])
  })

  test('publish --oci refuses artifacts of other tools and of other applications', async () => {
    const { app, registry, push } = await begin()
    const image = { schemaVersion: 2, config: { mediaType: 'application/vnd.oci.image.config.v1+json' }, layers: [] }
    const type = 'application/vnd.oci.image.manifest.v1+json'
    registry.manifests.set('staging', { type, bytes: Buffer.from(JSON.stringify(image)) })
    const refused = await push()
    expect(refused.status).toBe(1)
    expect(refused.stderr).toContain('is an image, or an artifact that devctl did not push')
    expect((await push('--take-over')).status).toBe(0)
    const other = await app.publish('--oci', registry.name, '--name', 'blog')
    expect(other.stderr).toContain('contains the manifests of the application `shop`, not of `blog`')
  })

  test.each(
    few(
      [
        [['--pull-request'], '`--pull-request` cannot be combined with `--oci`'],
        [['--repository', 'git@host:a/b.git'], '`--repository` cannot be combined with `--oci`'],
        [['--path', 'a'], '`--path` cannot be combined with `--oci`'],
        [['--branch', 'a'], '`--branch` cannot be combined with `--oci`'],
        [['--layout', 'kustomize'], 'overlays do not go with `--oci`'],
        [['--oci', 'shop'], '`--oci` is `shop`: it has no registry'],
        [['--oci', 'https://registry.example.com/shop'], '`--oci` is `https://'],
        [['--oci', `registry.example.com/shop@sha256:${'0'.repeat(64)}`], 'a digest is not allowed'],
      ],
      4,
    ),
  )('publish --oci refuses %j', async (words, said) => {
    const { push } = await begin()
    const { status, stderr } = await push(...words)
    expect(status).toBe(2)
    expect(stderr).toContain(said)
  })

  longTest('publish --oci of an environment with overlays needs another layout', async () => {
    const { push, registry } = await begin('    layout: kustomize\n')
    expect((await push()).stderr).toContain('add `--layout plain`')
    expect((await push('--layout', 'single-file')).status).toBe(0)
    expect(Object.keys(filesAt(registry))).toContain('manifests.yaml')
  })

  longTest('publish --oci uses the tag of its reference, with or without `oci://`', async () => {
    const { app, registry } = await begin()
    expect((await app.publish('--oci', `oci://${registry.name}:v1`)).status).toBe(0)
    expect((await app.publish('--oci', `${registry.name}:v1`)).stdout).toMatch(/^unchanged: /)
    expect((await app.publish('--oci', `${registry.name}:v2`)).status).toBe(0)
    const [one, two] = ['v1', 'v2'].map(tag => registry.manifests.get(tag)!.bytes.toString())
    expect(one).toBe(two)
  })
})

/** Returns a manifest whose environment is published to a registry. */
const manifestWith = (oci: string, more = '') => `name: shop
environments:
  staging:
    namespace: shop-staging
    domain: staging.example.com
    oci: ${oci}
${more}`

describe('an environment with `oci`', () => {
  async function published() {
    const begun = await begin()
    await begun.app.change({ 'devctl.yml': manifestWith(begun.registry.name) })
    return begun
  }

  test('publish uses `oci` of the environment, and the README names no further option', async () => {
    const { app, registry } = await published()
    expect((await app.publish()).stdout).toMatch(/:staging@sha256:[0-9a-f]{64}\n$/)
    expect(filesAt(registry)['README.md']).toContain('    devctl publish --environment staging\n')
    expect((await app.publish('--pull-request')).stderr).toContain('cannot be combined with `oci` of the environment')
    await app.devctl('render', '--environment', 'staging', '--output-dir', 'out')
    expect((await app.devctl('diff', '--environment', 'staging', '--against', 'out')).status).toBe(0)
  })

  longTest('publish --repository overrides `oci` of the environment', async () => {
    const { app, registry } = await published()
    expect((await app.publish('--repository', app.server.address, '--branch', 'main')).status).toBe(0)
    expect(registry.requests).toEqual([])
    expect(Object.keys(await app.tree())).toContain('environments/staging/shop/web/deployment-web.yaml')
  })

  test('promote refuses an environment with `oci`', async () => {
    const { app } = await published()
    const more = `  production:\n    namespace: shop\n    domain: example.com\n    repository: ${app.server.address}\n`
    await app.change({ 'devctl.yml': manifestWith('registry.example.com/team/shop', more) })
    const { status, stderr } = await app.devctl('promote', 'staging', 'production')
    expect(status).toBe(1)
    expect(stderr).toContain('`staging` is published as an artifact, and `promote` is for repositories')
  })
})

describe('gitops init --oci', () => {
  const init = (app: Publishing, ...words: readonly string[]) =>
    app.devctl('gitops', 'init', '--environment', 'staging', ...words)

  test('gitops init --oci --print needs no repository', async () => {
    const app = await publishing()
    await app.change({ 'devctl.yml': manifestWith('registry.example.com/team/shop:v1') })
    const flux = await init(app, '--flux', '--print')
    expect(flux.stdout).toContain('kind: OCIRepository')
    expect(flux.stdout).toContain('url: oci://registry.example.com/team/shop\n  ref:\n    tag: v1\n')
    const words = ['--oci', 'registry.example.com/team/shop', '--url', 'oci://mirror.example.com/shop', '--print']
    const argocd = await init(app, '--argocd', ...words)
    expect(parse(argocd.stdout).spec.source).toEqual({
      repoURL: 'oci://mirror.example.com/shop',
      targetRevision: 'staging',
      path: '.',
    })
    expect((await init(app, '--flux')).stderr).toContain('the repository for the file is not known')
  })

  longTest('gitops init --oci commits the file to the repository of the environment', async () => {
    const app = await publishing()
    await app.publish()
    const { status, stdout, stderr } = await init(app, '--flux', '--oci', 'registry.example.com/team/shop')
    expect(status, stderr).toBe(0)
    expect(stdout).toContain('flux create secret oci shop-staging-oci --url=registry.example.com')
    expect((await app.tree())['flux/shop-staging.yaml']).toContain('oci://registry.example.com/team/shop')
    expect(await app.log()).toContain('gitops(shop/staging): let Flux sync registry.example.com/team/shop:staging')
  })

  test.each([
    [['--argocd', '--all'], '`--oci` cannot be combined with `--all`'],
    [['--flux', '--path', 'shop'], '`--path` cannot be combined with `--oci`'],
    [['--flux', '--url', 'https://git.example.com/a'], '`--url` is `https://git.example.com/a`'],
  ])('gitops init --oci refuses %j', async (words, said) => {
    const app = await publishing()
    const { status, stderr } = await init(app, '--oci', 'registry.example.com/team/shop', ...words)
    expect(status).toBe(2)
    expect(stderr).toContain(said)
  })
})

describe('publish --oci to a private registry', () => {
  const [USER, PASSWORD] = ['robot', 'hunter2-of-the-registry']
  const BASIC = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`
  const login = { auth: BASIC.slice('Basic '.length) }

  /** Starts a registry that accepts the login itself. */
  const basic = () =>
    memoryRegistry(({ headers }, response) => {
      if (headers.authorization === BASIC) return false
      refuse(response, 401, 'UNAUTHORIZED', { 'www-authenticate': 'Basic realm="private"' })
      return true
    })

  /**
   * Starts a registry that accepts tokens of its own service, each for a few requests. Users get a token for their
   * login or identity token; `gives` is what the token allows.
   */
  const tokens = (gives: string) => {
    let [made, left] = [0, 0]
    return memoryRegistry(({ method, path, headers, body }, response, server) => {
      if (path.startsWith('/token')) {
        const asked = method === 'POST' ? new URLSearchParams(body) : new URL(path, server.origin).searchParams
        const isKnown = headers.authorization === BASIC || asked.get('refresh_token') === PASSWORD
        if (!isKnown) return deny(response, 401, 'UNAUTHORIZED')
        left = 3
        made++
        response.end(
          JSON.stringify({ token: `${asked.get('scope')?.endsWith(':pull,push') ? gives : 'pull'}-${made}` }),
        )
        return true
      }
      if (left-- <= 0 || !headers.authorization?.endsWith(`-${made}`))
        return deny(response, 401, 'UNAUTHORIZED', `Bearer realm="${server.origin}/token",service="private"`)
      return method !== 'GET' && method !== 'HEAD' && !headers.authorization.includes('push')
        ? deny(response, 403, 'DENIED')
        : false
    })
  }

  function deny(response: ServerResponse, status: number, code: string, challenge?: string): true {
    refuse(response, status, code, challenge === undefined ? {} : { 'www-authenticate': challenge })
    return true
  }

  /** Creates a user with a Docker configuration; `push` also checks that the output contains no secret. */
  async function someone(registry: MemoryRegistry, entry?: object) {
    const app = await publishing()
    const docker = join(app.temporary, 'docker')
    const auths = entry ? { [registry.host]: entry } : {}
    write(docker, { 'config.json': JSON.stringify({ auths }) })
    const words = ['publish', '--environment', 'staging', '--oci', registry.name]
    return {
      async push(...more: readonly string[]) {
        const result = await run([...words, ...more], { cwd: app.source, env: { ...app.env, DOCKER_CONFIG: docker } })
        expect(leakIn(`${result.stdout}${result.stderr}`, [PASSWORD, login.auth])).toBeUndefined()
        return result
      },
    }
  }

  test.each(
    few(
      [
        ['a login', basic, login],
        ['a login, and its token service', () => tokens('push'), login],
        ['an identity token', () => tokens('push'), { ...login, auth: '', identitytoken: PASSWORD }],
      ],
      2,
    ),
  )('publish --oci works with %s', async (_, start, entry) => {
    const registry = await start()
    const { push } = await someone(registry, entry)
    expect(await push()).toMatchObject({ status: 0, stdout: expect.stringContaining(':staging@sha256:') })
    expect([...registry.manifests.keys()]).toContain('staging')
    expect(leakIn([...registry.blobs.values()].map(String).join(''), [PASSWORD, login.auth])).toBeUndefined()
    expect(await push()).toMatchObject({ status: 0, stdout: expect.stringMatching(/^unchanged: /) })
    expect(await push('--verify')).toMatchObject({ status: 0 })
  })

  test.each(
    few(
      [
        ['nobody', basic, undefined, /\n {2}= help: .*docker login/],
        [
          'a wrong password',
          basic,
          { auth: Buffer.from('robot:wrong').toString('base64') },
          /rejected the login in the Docker configuration/,
        ],
        ['nobody at a token service', () => tokens('push'), undefined, /\n {2}= help: .*docker login/],
        ['who may only read', () => tokens('pull'), login, /is not allowed to push/],
      ],
      2,
    ),
  )('publish --oci reports a missing permission: %s', async (_, start, entry, message) => {
    const registry = await start()
    const { push } = await someone(registry, entry)
    expect(await push()).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(message) })
    expect(registry.manifests.size).toBe(0)
  })
})
