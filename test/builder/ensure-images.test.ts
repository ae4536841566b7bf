import { describe, expect, test } from 'vitest'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { EnsureOptions } from '../../operations/build/builder.ts'
import { missingImagesBuilder, presentImagesOnly } from '../../operations/build/ensure-images.ts'
import type { PlannedBuild } from '../../operations/build/planned-build.ts'
import type { OperationEvent } from '../../operations/events.ts'
import { DIGEST, fakeServer, giveManifest, refuse } from '../registry/fake-registry.ts'

/** A registry with the tag `web:1`, which refuses to tell about `api`, and has nothing else. */
async function registry(): Promise<string> {
  const server = await fakeServer(({ path }, response) => {
    if (path === '/v2/web/manifests/1') giveManifest(response, DIGEST, '')
    else if (path.startsWith('/v2/api/')) refuse(response, 403, 'DENIED')
    else refuse(response, 404, 'MANIFEST_UNKNOWN')
  })
  return server.host
}

const planned = (service: string, reference: string, hasContentTag = true): PlannedBuild => ({
  service,
  // Only diagnostics use it.
  span: undefined as never,
  reference,
  hasContentTag,
  dependsOn: [],
  specOf: () => ({ tags: [] }) as never,
})

/** What becomes of images. Nothing listens at the address of the builder: an error that names it is an attempt to build. */
async function ensure(images: readonly PlannedBuild[], force: EnsureOptions['force'], looks = false) {
  const events: string[] = []
  const on = (event: OperationEvent) => {
    if (event.type === 'build-ended') events.push(`${event.name} ${event.outcome}`)
    if (event.type === 'warning') events.push(event.text)
  }
  const world = { workspace: { cwd: '/', env: { DOCKER_CONFIG: '/nowhere' } }, on }
  const builder = looks
    ? presentImagesOnly(world)
    : missingImagesBuilder(world, { address: 'tcp://127.0.0.1:9', from: 'that of the test' })
  const options = { force, given: new Map(), signal: new AbortController().signal }
  try {
    return { events, images: Object.fromEntries(await builder.ensure(images, options)) }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { events, built: error.notes.find(note => note.startsWith('it is needed')) }
  }
}

const UNREACHABLE = '127.0.0.1:9'

describe('an image', () => {
  test('that the registry has is not built, and goes by its digest', async () => {
    const host = await registry()
    expect(await ensure([planned('web', `${host}/web:1`)], 'none')).toEqual({
      events: ['web present'],
      images: { web: `${host}/web:1@${DIGEST}` },
    })
  })

  test('that the registry does not have, or does not tell about, is built', async () => {
    const host = await registry()
    const images = ['web', 'api', 'worker'].map(name => planned(name, `${host}/${name}:1`))
    expect(await ensure(images, 'none')).toEqual({
      events: ['web present'],
      built: 'it is needed for the images of `api`, `worker`',
    })
  })

  test('is built although it is there if all are, or if its tag does not follow from its content', async () => {
    const host = await registry()
    const built = 'it is needed for the images of `web`'
    expect(await ensure([planned('web', `${host}/web:1`)], 'all')).toEqual({ events: [], built })
    expect(await ensure([planned('web', `${host}/web:1`, false)], 'named')).toEqual({ events: [], built })
    expect(await ensure([planned('web', `${host}/web:1`, false)], 'none')).toMatchObject({ events: ['web present'] })
  })

  test('of a registry that cannot be asked is deployed by its tag with a warning, and built by who builds', async () => {
    const image = planned('web', `${UNREACHABLE}/web:1`)
    const deployed = await ensure([image], 'none')
    expect(deployed.images).toEqual({})
    expect(deployed.events).toEqual([expect.stringMatching(/cannot be asked.*; it is deployed by its tag$/)])
    expect(await ensure([image], 'named')).toEqual({ events: [], built: 'it is needed for the images of `web`' })
  })

  test('is only looked for by a diff', async () => {
    const host = await registry()
    const images = ['web', 'worker'].map(name => planned(name, `${host}/${name}:1`))
    expect(await ensure(images, 'none', true)).toEqual({
      events: ['web present'],
      images: { web: `${host}/web:1@${DIGEST}` },
    })
  })
})
