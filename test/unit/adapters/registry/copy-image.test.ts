import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { copyImage } from '../../../../adapters/registry/copy-image.ts'
import { refuse } from '../../../support/registry/fake-registry.ts'
import { type MemoryRegistry, memoryRegistry } from '../../../support/registry/memory-registry.ts'

const INDEX = 'application/vnd.oci.image.index.v1+json'
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
const options = { env: {}, signal: AbortSignal.timeout(20_000), retries: { attempts: 1 } }

const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** Stores an image for two platforms that share a layer, and returns the digest of its index. */
function storeImage({ blobs, manifests }: MemoryRegistry): string {
  const blob = (text: string) => {
    const bytes = Buffer.from(text)
    blobs.set(digestOf(bytes), bytes)
    return { digest: digestOf(bytes), size: bytes.length }
  }
  const manifest = (content: object, type: string, tag?: string) => {
    const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: type, ...content }))
    manifests.set(tag ?? digestOf(bytes), { type, bytes })
    manifests.set(digestOf(bytes), { type, bytes })
    return { digest: digestOf(bytes), size: bytes.length }
  }
  const platforms = ['amd64', 'arm64'].map(one =>
    manifest({ config: blob(`config of ${one}`), layers: [blob('shared'), blob(`layer of ${one}`)] }, MANIFEST),
  )
  return manifest({ manifests: platforms }, INDEX, '1').digest
}

test('an image is copied with all its platforms and its digest, and only once', async () => {
  const [source, target] = [await memoryRegistry(), await memoryRegistry()]
  const digest = storeImage(source)
  const copy = { from: `${source.name}:1`, to: `${target.name}:2` }
  expect(await copyImage(copy, options)).toEqual({ digest, isNew: true })
  expect(new Map([...target.blobs].sort())).toEqual(new Map([...source.blobs].sort()))
  expect(target.manifests.get('2')).toEqual(source.manifests.get('1'))
  const uploads = () => target.asked().filter(one => one.startsWith('PUT /v2/team/shop/blobs'))
  // The layer that both platforms have is sent once.
  expect(uploads()).toHaveLength(5)
  expect(await copyImage(copy, options)).toEqual({ digest, isNew: false })
  expect(uploads()).toHaveLength(5)
})

test('a reference with a digest is copied as it was when it was pinned', async () => {
  const [source, target] = [await memoryRegistry(), await memoryRegistry()]
  const digest = storeImage(source)
  source.manifests.set('1', { type: MANIFEST, bytes: Buffer.from('{"schemaVersion":2,"config":{}}') })
  const copy = { from: `${source.name}:1@${digest}`, to: `${target.name}:1` }
  expect(await copyImage(copy, options)).toEqual({ digest, isNew: true })
  expect(target.manifests.get('1')).toEqual(source.manifests.get(digest))
  const bytes = Buffer.from('{}')
  source.manifests.set(digest, { type: INDEX, bytes })
  expect(await copyImage({ ...copy, to: `${target.name}:2` }, options)).toMatchObject({
    problem: { kind: 'not-a-registry' },
    of: 'from',
  })
})

test('the problem says which of the registries has it', async () => {
  const [source, target] = [await memoryRegistry(), await memoryRegistry()]
  const readOnly = await memoryRegistry(({ method }, response) => {
    if (method !== 'POST') return false
    refuse(response, 403, 'DENIED')
    return true
  })
  const missing = await copyImage({ from: `${source.name}:1`, to: `${target.name}:1` }, options)
  expect(missing).toEqual({ problem: { kind: 'missing' }, of: 'from' })
  storeImage(source)
  const refused = await copyImage({ from: `${source.name}:1`, to: `${readOnly.name}:1` }, options)
  expect(refused).toMatchObject({ problem: { kind: 'denied' }, of: 'to' })
  const nobody = await copyImage({ from: `${source.name}:1`, to: '127.0.0.1:9/team/shop:1' }, options)
  expect(nobody).toMatchObject({ problem: { kind: 'unreachable' }, of: 'to' })
})

test('content that does not match its digest is not copied', async () => {
  const [source, target] = [await memoryRegistry(), await memoryRegistry()]
  storeImage(source)
  source.blobs.set(digestOf(Buffer.from('shared')), Buffer.from('changed'))
  expect(await copyImage({ from: `${source.name}:1`, to: `${target.name}:1` }, options)).toMatchObject({
    problem: { kind: 'not-a-registry' },
    of: 'from',
  })
  expect(target.manifests.size).toBe(0)
})
