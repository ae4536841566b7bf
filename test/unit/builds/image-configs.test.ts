import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { knownImages, plainImages } from '../../../builds/image-configs.ts'
import type { Project } from '../../../compiler/compose/project.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { fakeServer, refuse } from '../../support/registry/fake-registry.ts'

const digestOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`
const CONFIG = JSON.stringify({ rootfs: {}, config: { User: '1000' } })
const none = { built: new Map<string, string>(), plain: new Map<string, string>(), programs: new Map<string, string>() }

/** A registry with one image under every name, except below `gone/`; it does not answer for names below `slow/`. */
const registry = () =>
  fakeServer(({ path }, response) => {
    if (path.startsWith('/v2/slow/')) return
    if (path.startsWith('/v2/gone/')) return refuse(response, 404, 'MANIFEST_UNKNOWN')
    response.end(path.includes('/blobs/') ? CONFIG : manifestOf(CONFIG))
  })

const PROGRAM = JSON.stringify({ rootfs: {}, config: { User: '7', Entrypoint: ['/run'], Cmd: null } })
const manifestOf = (config: string) => JSON.stringify({ schemaVersion: 2, config: { digest: digestOf(config) } })

/** A registry that has one image with a program under every name. */
const programRegistry = () =>
  fakeServer(({ path }, response) => {
    response.end(path.includes('/blobs/') ? PROGRAM : manifestOf(PROGRAM))
  })

const options = { env: { DOCKER_CONFIG: '/nonexistent' }, signal: AbortSignal.timeout(30_000) }

describe('known images', () => {
  test('knownImages returns configurations, with a note for each built image that has none', async () => {
    const { host } = await registry()
    const built = new Map([
      ['web', `${host}/web:1`],
      ['api', `${host}/gone/api:1`],
    ])
    const plain = new Map([
      ['cache', `${host}/cache:1`],
      ['queue', `${host}/gone/queue:1`],
    ])
    const { configs, notes } = await knownImages({ ...none, built, plain }, options)
    expect(Object.fromEntries(configs)).toEqual({ web: { User: '1000' }, cache: { User: '1000' } })
    expect([...notes.values()]).toEqual([
      expect.stringMatching(/the image of `api` are not known: the registry .* has no/),
    ])
  })

  test('knownImages does not wait for a slow image that was not built', async () => {
    const { host } = await registry()
    const images = {
      ...none,
      built: new Map([['web', `${host}/web:1`]]),
      plain: new Map([['slow', `${host}/slow/a:1`]]),
    }
    const began = performance.now()
    const { configs, notes } = await knownImages(images, { ...options, limit: 100 })
    expect(performance.now() - began).toBeLessThan(20_000)
    expect([...configs.keys()]).toEqual(['web'])
    expect([...notes]).toEqual([])
  })

  test('knownImages returns only the programs of images that are asked for them, from each registry that answers', async () => {
    const { host, requests } = await programRegistry()
    const slow = (await registry()).host
    const programs = new Map([
      ['slow', `${slow}/slow/job:1`],
      ['job', `${host}/job:1`],
      ['same', `${host}/job:1`],
    ])
    const plain = new Map([['cache', `${slow}/cache:1`]])
    const known = await knownImages({ ...none, plain, programs }, { ...options, limit: 2000 })
    expect(Object.fromEntries(known.programs)).toEqual({
      job: { Entrypoint: ['/run'] },
      same: { Entrypoint: ['/run'] },
    })
    expect([...known.configs.keys()]).toEqual(['cache'])
    expect(requests.filter(({ path }) => path.includes('/manifests/'))).toHaveLength(1)
    expect(Object.fromEntries(known.notes)).toEqual({
      slow: `the program of the image of \`slow\` is not known, so its container is restarted when it ends: the registry \`${slow}\` cannot be asked for \`${slow}/slow/job:1\`: it has not answered within 2 s; to run it once, set \`entrypoint\` to the program that its image starts`,
    })
  })

  test.each([
    ['has no such image', 404, 'NAME_UNKNOWN', / has no /],
    ['requires a login', 401, 'UNAUTHORIZED', /requires a login/],
    ['limits requests', 429, 'TOOMANYREQUESTS', /refuses more requests for now/],
  ])('the note about a program has the reason if a registry %s', async (_, status, code, reason) => {
    const { host } = await fakeServer((_, response) => refuse(response, status, code))
    const programs = new Map([['job', `${host}/job:1`]])
    const known = await knownImages({ ...none, programs }, { ...options, retries: { attempts: 1 } })
    expect(known.programs.size).toBe(0)
    expect(known.notes.get('job')).toMatch(reason)
    expect(known.notes.get('job')).toContain('set `entrypoint`')
  })

  test('knownImages asks for programs with the login of the Docker configuration', async () => {
    const auth = Buffer.from('ann:secret').toString('base64')
    const { host } = await fakeServer(({ path, headers }, response) => {
      if (headers.authorization !== `Basic ${auth}`)
        return refuse(response, 401, 'UNAUTHORIZED', { 'www-authenticate': 'Basic realm="r"' })
      response.end(path.includes('/blobs/') ? PROGRAM : manifestOf(PROGRAM))
    })
    const DOCKER_CONFIG = makeFolder({ 'config.json': JSON.stringify({ auths: { [host]: { auth } } }) })
    const asked = { ...none, programs: new Map([['job', `${host}/job:1`]]) }
    const { programs, notes } = await knownImages(asked, { ...options, env: { DOCKER_CONFIG } })
    expect(programs.get('job')).toEqual({ Entrypoint: ['/run'] })
    expect([...notes]).toEqual([])
  })

  test('a registry that is not reachable, and a broken Docker configuration, leave a program unknown', async () => {
    const programs = new Map([['job', '127.0.0.1:1/job:1']])
    const retries = { attempts: 1 }
    const away = await knownImages({ ...none, programs }, { ...options, retries })
    expect(away.notes.get('job')).toMatch(/`127\.0\.0\.1:1` cannot be asked for/)

    const { host } = await fakeServer((_, response) =>
      refuse(response, 401, 'UNAUTHORIZED', { 'www-authenticate': 'Basic realm="r"' }),
    )
    const DOCKER_CONFIG = makeFolder({ 'config.json': '{' })
    const asked = { ...none, programs: new Map([['job', `${host}/job:1`]]) }
    const { notes } = await knownImages(asked, { ...options, env: { DOCKER_CONFIG } })
    expect(notes.get('job')).toMatch(/the Docker configuration .* cannot be read/)
    await expect(
      knownImages({ ...none, built: asked.programs }, { ...options, env: { DOCKER_CONFIG } }),
    ).rejects.toThrow('cannot be read')
  })

  test('knownImages ends with the signal while it asks for a program', async () => {
    const { host } = await registry()
    const signal = AbortSignal.timeout(50)
    const images = { ...none, programs: new Map([['slow', `${host}/slow/a:1`]]) }
    const error = await knownImages(images, { ...options, signal }).catch((reason: unknown) => reason)
    expect(error).toBe(signal.reason)
  })

  test('knownImages ends with the signal', async () => {
    const { host } = await registry()
    const signal = AbortSignal.timeout(50)
    const images = { ...none, plain: new Map([['slow', `${host}/slow/a:1`]]) }
    const error = await knownImages(images, { ...options, signal }).catch((reason: unknown) => reason)
    expect(error).toBe(signal.reason)
  })
})

describe('plainImages', () => {
  const project = (...withBuild: readonly string[]) =>
    // Only the parts of a project that the code reads.
    ({ services: new Map(withBuild.map(name => [name, { build: {} }])) }) as unknown as Project
  const images = new Map([
    ['web', 'r.example.com/team/web:1'],
    ['api', 'ann/api'],
    ['cache', 'r.example.com/other/cache:1'],
    ['db', 'postgres:17'],
    ['queue', 'q.example.com/queue'],
  ])
  const plain = (withBuild: readonly string[], built: readonly string[]) => [
    ...plainImages(project(...withBuild), images, new Map(built.map(name => [name, '']))).keys(),
  ]

  test('plainImages contains images in the registries of built ones, except Docker Hub', () => {
    expect(plain(['web'], ['web'])).toEqual(['cache'])
    expect(plain(['web', 'api'], ['web', 'api'])).toEqual(['cache'])
    expect(plain([], [])).toEqual([])
  })

  test('plainImages contains images with `build` that are built elsewhere', () =>
    expect(plain(['web', 'api'], [])).toEqual(['web', 'cache']))
})
