import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { knownImages, plainImages } from '../../../builds/image-configs.ts'
import type { Project } from '../../../compiler/compose/project.ts'
import { fakeServer, refuse } from '../../support/registry/fake-registry.ts'

const digestOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`
const CONFIG = JSON.stringify({ rootfs: {}, config: { User: '1000' } })
const MANIFEST = JSON.stringify({ schemaVersion: 2, config: { digest: digestOf(CONFIG) } })

/** A registry with one image under every name, except below `gone/`; it does not answer for names below `slow/`. */
const registry = () =>
  fakeServer(({ path }, response) => {
    if (path.startsWith('/v2/slow/')) return
    if (path.startsWith('/v2/gone/')) return refuse(response, 404, 'MANIFEST_UNKNOWN')
    response.end(path.includes('/blobs/') ? CONFIG : MANIFEST)
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
    const { configs, notes } = await knownImages({ built, plain }, options)
    expect(Object.fromEntries(configs)).toEqual({ web: { User: '1000' }, cache: { User: '1000' } })
    expect([...notes.values()]).toEqual([
      expect.stringMatching(/the image of `api` are not known: the registry .* has no/),
    ])
  })

  test('knownImages does not wait for a slow image that was not built', async () => {
    const { host } = await registry()
    const images = { built: new Map([['web', `${host}/web:1`]]), plain: new Map([['slow', `${host}/slow/a:1`]]) }
    const began = performance.now()
    const { configs, notes } = await knownImages(images, { ...options, limit: 100 })
    expect(performance.now() - began).toBeLessThan(20_000)
    expect([...configs.keys()]).toEqual(['web'])
    expect([...notes]).toEqual([])
  })

  test('knownImages ends with the signal', async () => {
    const { host } = await registry()
    const signal = AbortSignal.timeout(50)
    const images = { built: new Map(), plain: new Map([['slow', `${host}/slow/a:1`]]) }
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
