import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { fetchImageConfigs } from '../../../../adapters/registry/image-configs.ts'
import { refuse } from '../../../support/registry/fake-registry.ts'
import { type MemoryRegistry, memoryRegistry } from '../../../support/registry/memory-registry.ts'

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
const INDEX = 'application/vnd.oci.image.index.v1+json'
const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** Puts an image with a configuration into a registry, and gives the digest of its manifest. */
function put({ blobs, manifests }: MemoryRegistry, name: string, configuration: unknown): string {
  const config = Buffer.from(typeof configuration === 'string' ? configuration : JSON.stringify(configuration))
  blobs.set(digestOf(config), config)
  const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, config: { digest: digestOf(config) }, layers: [] }))
  for (const one of [name, digestOf(bytes)]) manifests.set(one, { type: MANIFEST, bytes })
  return digestOf(bytes)
}

function putIndex({ manifests }: MemoryRegistry, name: string, ...entries: readonly object[]): void {
  manifests.set(name, { type: INDEX, bytes: Buffer.from(JSON.stringify({ schemaVersion: 2, manifests: entries })) })
}

const fetch = async (reference: string) =>
  (
    await fetchImageConfigs([reference], {
      env: { DOCKER_CONFIG: '/nonexistent' },
      signal: AbortSignal.timeout(15_000),
      retries: { pause: 1, attempts: 2 },
    })
  ).get(reference)

const config = { User: '1000', ExposedPorts: { '80/tcp': {} }, Volumes: null, Env: ['A=b'] }
const configuration = { architecture: 'amd64', os: 'linux', rootfs: { type: 'layers' }, config }

describe('the configuration of an image', () => {
  test('the configuration is found by tag and by digest', async () => {
    const registry = await memoryRegistry()
    const digest = put(registry, '1', configuration)
    expect(await fetch(`${registry.name}:1`)).toEqual({ config })
    expect(await fetch(`${registry.name}:other@${digest}`)).toEqual({ config })
  })

  test('the configuration is that of the first platform, and never of an attestation', async () => {
    const registry = await memoryRegistry()
    const attestation = put(registry, 'attestation', { rootfs: {}, config: {} })
    const image = put(registry, 'image', configuration)
    const other = put(registry, 'other', { rootfs: {}, config: { User: '0' } })
    putIndex(
      registry,
      '1',
      { digest: attestation, platform: { os: 'unknown', architecture: 'unknown' } },
      { digest: image, platform: { os: 'linux', architecture: 'arm64' } },
      { digest: other, platform: null },
    )
    expect(await fetch(`${registry.name}:1`)).toEqual({ config })
  })

  test('the configuration may be empty', async () => {
    const registry = await memoryRegistry()
    put(registry, '1', { rootfs: {}, config: null })
    put(registry, '2', { rootfs: {} })
    expect(await fetch(`${registry.name}:1`)).toEqual({ config: {} })
    expect(await fetch(`${registry.name}:2`)).toEqual({ config: {} })
  })
})

describe('images without a configuration', () => {
  const problem = (kind: string) => ({ problem: expect.objectContaining({ kind }) })

  test('an image or a configuration that does not exist is reported as missing', async () => {
    const registry = await memoryRegistry()
    put(registry, '1', configuration)
    registry.blobs.clear()
    expect(await fetch(`${registry.name}:1`)).toEqual(problem('missing'))
    expect(await fetch(`${registry.name}:2`)).toEqual(problem('missing'))
  })

  test.each([
    ['a page', '<html>'],
    ['something else', '[]'],
    ['half a file', JSON.stringify(configuration).slice(0, 60)],
    ['ports that are a list', { rootfs: {}, config: { ExposedPorts: ['80/tcp'] } }],
  ])('a configuration that is %s is refused', async (_, content) => {
    const registry = await memoryRegistry()
    put(registry, '1', content)
    expect(await fetch(`${registry.name}:1`)).toEqual(problem('not-a-registry'))
  })

  test('a configuration with another digest is refused', async () => {
    const registry = await memoryRegistry()
    put(registry, '1', configuration)
    for (const digest of registry.blobs.keys()) registry.blobs.set(digest, Buffer.from('{"rootfs": {}}'))
    expect(await fetch(`${registry.name}:1`)).toEqual(problem('not-a-registry'))
  })

  test('an index that leads to an index, or to nothing, is refused', async () => {
    const registry = await memoryRegistry()
    const bytes = Buffer.from('{"schemaVersion": 2, "manifests": []}')
    registry.manifests.set(digestOf(bytes), { type: INDEX, bytes })
    putIndex(registry, '1', { digest: digestOf(bytes) })
    putIndex(registry, '2')
    expect(await fetch(`${registry.name}:1`)).toEqual(problem('not-a-registry'))
    expect(await fetch(`${registry.name}:2`)).toEqual(problem('not-a-registry'))
  })

  test('a registry that refuses, fails or cannot be reached is reported', async () => {
    const denied = await memoryRegistry((_, response) => {
      refuse(response, 403, 'DENIED')
      return true
    })
    expect(await fetch(`${denied.name}:1`)).toEqual(problem('denied'))
    const failing = await memoryRegistry((_, response) => {
      response.writeHead(503).end()
      return true
    })
    expect(await fetch(`${failing.name}:1`)).toEqual({ problem: expect.anything() })
    expect(await fetch('127.0.0.1:1/team/shop:1')).toEqual(problem('unreachable'))
    expect(await fetch('Team/Shop')).toEqual(problem('invalid'))
  })
})
