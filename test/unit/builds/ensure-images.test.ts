import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { OperationEvent } from '../../../api/events.ts'
import { type EnsureOptions, NotBuilt } from '../../../builds/builder/builder.ts'
import { missingImagesBuilder, presentImagesOnly } from '../../../builds/ensure-images.ts'
import { type PlannedBuild, withMoving } from '../../../builds/plan/planned-build.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { SourceFile } from '../../../compiler/text/source.ts'
import { type BuildSpec, PLAIN_BUILD } from '../../../compiler/values/images/build-spec.ts'
import { DIGEST, type FakeServer, fakeServer, giveManifest, refuse } from '../../support/registry/fake-registry.ts'

const OTHER = '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{}}'
const OTHER_DIGEST = `sha256:${createHash('sha256').update(OTHER).digest('hex')}`

/**
 * A registry: `web` has the tags `1` and `devctl-new` with the image of DIGEST, and `old` and `2` with another one;
 * all else is missing. Tags can be written unless `isClosed`, and `api` cannot be read.
 */
async function registry(isClosed = false): Promise<FakeServer> {
  const tags = new Map([
    ['1', DIGEST],
    ['devctl-new', DIGEST],
    ['old', OTHER_DIGEST],
    ['2', OTHER_DIGEST],
  ])
  return fakeServer(({ method, path, body }, response) => {
    const name = /^\/v2\/web\/manifests\/(.+)$/.exec(path)?.[1] ?? ''
    if (path.startsWith('/v2/api/') || (isClosed && method === 'PUT')) return refuse(response, 403, 'DENIED')
    if (method === 'PUT') {
      tags.set(name, `sha256:${createHash('sha256').update(body).digest('hex')}`)
      return void response.writeHead(201).end()
    }
    const digest = tags.get(name) ?? name
    if (digest === DIGEST) giveManifest(response)
    else if (digest === OTHER_DIGEST) giveManifest(response, digest, OTHER)
    else refuse(response, 404, 'MANIFEST_UNKNOWN')
  })
}

const planned = (service: string, reference: string, part: Partial<PlannedBuild> = {}): PlannedBuild => ({
  service,
  span: { file: new SourceFile('compose.yaml', ''), start: 0, end: 0 },
  reference,
  contentReference: reference,
  tags: [],
  dependsOn: [],
  specOf: () => ({ ...PLAIN_BUILD, context: { folder: '/' }, dockerfile: { path: '/Dockerfile' } }),
  ...part,
})

/**
 * Returns the outcome for images. Nothing listens at the address of the builder: an error that names it is an attempt
 * to build.
 */
async function ensure(images: readonly PlannedBuild[], build: EnsureOptions['build'], looks = false) {
  const events: string[] = []
  const on = (event: OperationEvent) => {
    if (event.type === 'build-ended')
      events.push([event.name, event.outcome, ...(event.moved ?? []).map(name => `→ ${name}`)].join(' '))
    if (event.type === 'warning' || event.type === 'note') events.push(event.text)
  }
  const world = { workspace: { cwd: '/', env: { DOCKER_CONFIG: '/nowhere' } }, on }
  const builder = looks
    ? presentImagesOnly(world)
    : missingImagesBuilder(world, { address: 'tcp://127.0.0.1:9', from: 'that of the test' })
  const options = { build, given: new Map(), signal: new AbortController().signal }
  try {
    return { events, images: Object.fromEntries(await builder.ensure(images, options)) }
  } catch (error) {
    if (error instanceof NotBuilt) return { events, errors: error.diagnostics.map(({ message }) => message) }
    if (!(error instanceof UserError)) throw error
    const [built] = error.notes.flatMap(note => /^it is needed for the images of (.*)$/.exec(note)?.[1] ?? [])
    return { events, built, notes: error.notes.slice(2) }
  }
}

const UNREACHABLE = '127.0.0.1:9'

describe('an image', () => {
  test('an image that the registry has is not built, and is used by its digest', async () => {
    const { host } = await registry()
    for (const build of ['missing', 'changed'] as const)
      expect(await ensure([planned('web', `${host}/web:1`)], build)).toEqual({
        events: ['web present'],
        images: { web: `${host}/web:1@${DIGEST}` },
      })
  })

  test('an image that is missing or that may not be read is built', async () => {
    const { host } = await registry()
    const images = ['web', 'api', 'worker'].map(name => planned(name, `${host}/${name}:1`))
    const denied = `\`${host}\` requires a login for \`${host}/api:1\`, or it does not exist; it is built, but the registry may refuse the push`
    for (const build of ['missing', 'changed'] as const)
      expect(await ensure(images, build)).toEqual({
        events: ['web present', denied],
        built: '`api`, `worker`',
        notes: [],
      })
  })

  test('an image whose content may change is always built, unless the user takes it as it is', async () => {
    const { host } = await registry()
    const moving = planned('web', `${host}/web:1`, { isMoving: true })
    for (const build of ['missing', 'changed'] as const)
      expect(await ensure([moving], build)).toMatchObject({ events: [], built: '`web`' })
    // The user has said to use the image unchanged.
    const taken = planned('web', `${host}/web:1`, { contentReference: undefined, isMoving: true })
    expect(await ensure([taken], 'missing')).toMatchObject({ events: ['web present'] })
  })

  test('withMoving marks the images that are built on an image whose content may change', () => {
    const images = [
      planned('web', 'web:1', { dependsOn: ['base'] }),
      planned('base', 'base:1', { dependsOn: ['remote'] }),
      planned('remote', 'remote:1', { isMoving: true }),
      planned('other', 'other:1'),
    ]
    expect(withMoving(images).map(({ isMoving }) => isMoving === true)).toEqual([true, true, true, false])
  })

  test('an existing image is built if all are', async () => {
    const { host } = await registry()
    expect(await ensure([planned('web', `${host}/web:1`)], 'all')).toMatchObject({ events: [], built: '`web`' })
  })

  test('a deploy uses the tag of an image whose registry is unreachable, and a build builds it', async () => {
    const image = planned('web', `${UNREACHABLE}/web:1`)
    const deployed = await ensure([image], 'missing')
    expect(deployed.images).toEqual({})
    expect(deployed.events).toEqual([expect.stringMatching(/cannot be asked.*; it is deployed by its tag$/)])
    expect(await ensure([image], 'changed')).toMatchObject({
      events: [expect.stringMatching(/cannot be asked.*; so it will be built$/)],
      built: '`web`',
    })
  })

  test('a diff searches for images, and neither builds nor tags them', async () => {
    const { host, requests } = await registry()
    const named = planned('named', `${host}/web:old`, { contentReference: `${host}/web:devctl-new` })
    const changed = planned('changed', `${host}/web:2`, { contentReference: `${host}/web:devctl-newer` })
    const images = [planned('web', `${host}/web:1`), planned('worker', `${host}/worker:1`), named, changed]
    expect(await ensure(images, 'missing', true)).toEqual({
      events: ['web present', 'named present', 'worker: its image would be built', 'changed: its image would be built'],
      images: { web: `${host}/web:1@${DIGEST}`, named: `${host}/web:old@${DIGEST}` },
    })
    expect(requests.filter(({ method }) => method === 'PUT')).toEqual([])
  })
})

describe('an image with a name from the user', () => {
  const named = (host: string, tag: string, content: string, part: Partial<PlannedBuild> = {}) =>
    planned('web', `${host}/web:${tag}`, { contentReference: `${host}/web:devctl-${content}`, ...part })

  test('a named image is not built if the registry has its content under that name', async () => {
    const { host, requests } = await registry()
    for (const build of ['missing', 'changed'] as const)
      expect(await ensure([named(host, '1', 'new')], build)).toEqual({
        events: ['web present'],
        images: { web: `${host}/web:1@${DIGEST}` },
      })
    expect(requests.some(({ method }) => method === 'PUT')).toBe(false)
  })

  test('a named image is built if its content is missing, whatever image has the name', async () => {
    const { host } = await registry()
    const notes = [expect.stringContaining(`\`--image web=${host}/web:1\` deploys it as it is`)]
    expect(await ensure([named(host, '1', 'newer')], 'missing')).toEqual({ events: [], built: '`web`', notes })
    expect(await ensure([named(host, '1', 'newer')], 'changed')).toEqual({ events: [], built: '`web`', notes: [] })
  })

  test('a named image gets its name if that points to another image, or to none', async () => {
    const { host, requests } = await registry()
    const image = named(host, 'old', 'new', { tags: [`${host}/web:latest`] })
    const first = await ensure([image], 'missing')
    expect(first).toEqual({
      events: [`web present → ${host}/web:old → ${host}/web:latest`],
      images: { web: `${host}/web:old@${DIGEST}` },
    })
    const [put] = requests.filter(({ method }) => method === 'PUT')
    // The bytes of the manifest, and its own type: those of an index here.
    expect(put?.headers['content-type']).toBe('application/vnd.oci.image.index.v1+json')
    expect(await ensure([image], 'changed')).toEqual({ ...first, events: ['web present'] })
  })

  test('a deploy uses the digest if the name cannot be moved, and a build builds the image', async () => {
    const { host } = await registry(true)
    const image = named(host, 'old', 'new')
    expect(await ensure([image], 'missing')).toEqual({
      events: [
        expect.stringMatching(/push `\S+web:old`; the name still points to another image, and the right/),
        'web present',
      ],
      images: { web: `${host}/web:old@${DIGEST}` },
    })
    expect(await ensure([image], 'changed')).toMatchObject({ events: [], built: '`web`' })
  })

  test('a build, but not a deploy, builds an image again if names elsewhere do not point to it', async () => {
    const { host } = await registry()
    const image = named(host, '1', 'new', { tags: [`${host}/mirror/web:1`] })
    expect(await ensure([image], 'changed')).toMatchObject({ events: [], built: '`web`' })
    expect(await ensure([image], 'missing')).toMatchObject({ events: ['web present'] })
  })

  test('a deploy takes an image of unknown content as it is, if it exists', async () => {
    const { host } = await registry()
    const image = named(host, 'old', '', { contentReference: undefined })
    expect(await ensure([image], 'missing')).toMatchObject({ images: { web: `${host}/web:old@${OTHER_DIGEST}` } })
    expect(await ensure([image], 'changed')).toMatchObject({ built: '`web`' })
    expect(await ensure([{ ...image, reference: `${host}/web:gone` }], 'missing')).toMatchObject({ built: '`web`' })
  })

  test('an image with a digest is never built', async () => {
    const image = planned('web', `${UNREACHABLE}/web@${DIGEST}`, { contentReference: undefined })
    for (const build of ['missing', 'changed', 'all'] as const)
      expect(await ensure([image], build)).toEqual({ events: ['web present'], images: { web: image.reference } })
  })

  test('an official name of Docker Hub is refused before the build', async () => {
    const images = ['web', 'web:1', 'docker.io/library/web', 'ann/web'].map(name => planned('web', name))
    const messages = await Promise.all(images.map(image => ensure([image], 'all')))
    // Docker Hub, which has no such image, is not asked.
    expect(await ensure([images[0]!], 'missing')).toEqual(messages[0])
    expect(await ensure([images[0]!], 'changed')).toEqual(messages[0])
    expect(messages.map(({ errors }) => errors?.length)).toEqual([1, 1, 1, undefined])
    expect(messages[1]?.errors).toEqual([
      'the image of `web` cannot be pushed as `web:1`, the name of an official image of Docker Hub',
    ])
  })

  test('a name that two images of different content have is refused', async () => {
    const { host, requests } = await registry()
    const web = named(host, 'latest', 'a00000000000')
    const other = (part: Partial<PlannedBuild>) => ({ ...web, service: 'worker', ...part })
    const content = { contentReference: `${host}/web:devctl-b00000000000` }
    const tagged = other({ ...content, reference: `${host}/web:2`, tags: [`${host}/web:latest`] })
    for (const build of ['missing', 'changed', 'all'] as const)
      for (const worker of [other(content), tagged])
        expect(await ensure([web, worker], build)).toMatchObject({
          errors: [
            `the images of \`web\` and \`worker\` have the same name \`${host}/web:latest\`, but are built from different content`,
          ],
        })
    expect(requests).toEqual([])
  })

  test('a name that two images with different hidden values have is refused', async () => {
    const { host, requests } = await registry()
    const web = { ...named(host, 'latest', 'a00000000000'), hidden: { all: 'one', secrets: [] } }
    const message = `the images of \`web\` and \`worker\` have the same name \`${host}/web:latest\`, but are built from different content`
    expect(
      await ensure([web, { ...web, service: 'worker', hidden: { all: 'two', secrets: [] } }], 'changed'),
    ).toMatchObject({
      errors: [message],
    })
    // Those of the images that they are built on count, too.
    const { hidden: _, ...plain } = web
    const base = { ...planned('base', `${host}/base:1`), hidden: { all: 'one', secrets: [] } }
    const other = { ...planned('other', `${host}/other:1`), hidden: { all: 'two', secrets: [] } }
    const users = [
      { ...plain, dependsOn: ['base'] },
      { ...plain, service: 'worker', dependsOn: ['other'] },
    ]
    expect(await ensure([...users, base, other], 'changed')).toMatchObject({ errors: [message] })
    expect(requests).toEqual([])
    expect(await ensure([web, { ...web, service: 'worker' }], 'all')).toMatchObject({ built: '`web`' })
  })

  test('images with the same name and the same content are built once, and found once', async () => {
    const { host } = await registry()
    const twice = (image: PlannedBuild) => [image, { ...image, service: 'worker' }]
    const there = await ensure(twice(named(host, '1', 'new')), 'changed')
    const reference = `${host}/web:1@${DIGEST}`
    expect(there).toEqual({ events: ['web present'], images: { web: reference, worker: reference } })
    expect(await ensure(twice(named(host, '1', 'newer')), 'changed')).toMatchObject({ built: '`web`' })
  })
  test('images with the same content and settings in several repositories are built once', async () => {
    const { host } = await registry()
    const content = (service: string) => `${host}/${service}:devctl-a00000000000`
    const spec = { ...PLAIN_BUILD, context: { folder: '/' }, dockerfile: { path: '/Dockerfile' } }
    const withSpec = (service: string, part: Partial<BuildSpec>) =>
      planned(service, `${host}/${service}:1`, {
        contentReference: content(service),
        specOf: () => ({ ...spec, ...part }),
      })
    const images = [
      withSpec('web', {}),
      withSpec('worker', {}),
      withSpec('fresh', { noCache: true }),
      withSpec('other', { secrets: new Map([['token', { value: 'a' }]]) }),
      withSpec('another', { secrets: new Map([['token', { value: 'b' }]]) }),
    ]
    for (const build of ['missing', 'changed', 'all'] as const)
      expect(await ensure(images, build)).toMatchObject({
        events: ['worker: has the same build as web, and is built with it'],
        built: '`web`, `fresh`, `other`, `another`',
      })
  })
})
