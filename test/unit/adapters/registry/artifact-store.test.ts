import { describe, expect, test } from 'vitest'
import { layerOf, toArtifact } from '../../../../adapters/registry/artifact-manifest.ts'
import { openArtifacts } from '../../../../adapters/registry/artifact-store.ts'
import type { RegistryCredentials } from '../../../../adapters/registry/docker-config.ts'
import type { RegistrySessionOptions } from '../../../../adapters/registry/registry-session.ts'
import { refuse } from '../../../support/registry/fake-registry.ts'
import { type MemoryRegistry, memoryRegistry } from '../../../support/registry/memory-registry.ts'

const LAYER = Buffer.from('what stands for an archive')
const ARTIFACT = toArtifact(LAYER, { b: '2', a: '1' })
const PASSWORD = 'a password that nobody may see'
const ANN: RegistryCredentials = { kind: 'login', username: 'ann', password: PASSWORD }

/** Opens the tag `staging`, with short pauses between attempts. */
function storeAt(
  { name, host }: MemoryRegistry,
  login?: RegistryCredentials,
  options: Partial<RegistrySessionOptions> = {},
) {
  return openArtifacts(
    { name, tag: 'staging' },
    {
      env: { DOCKER_CONFIG: '/nonexistent' },
      signal: AbortSignal.timeout(15_000),
      credentials: new Map(login && [[host, login]]),
      mayPush: true,
      ...options,
      retries: { pause: 1, ...options.retries },
    },
  )
}

/** Returns the message of a failure, with its notes and its hint. */
async function failureOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (error: Error & { readonly notes: readonly string[]; readonly hint?: string }) => error,
  )
  return [error?.message, ...(error?.notes ?? []), error?.hint].join('\n')
}

describe('the manifest', () => {
  const manifest = JSON.parse(Buffer.from(ARTIFACT.manifest.bytes).toString())

  test('the manifest has one layer of a type that Argo CD reads, and the configuration of Flux', () => {
    expect(manifest).toMatchObject({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: { mediaType: 'application/vnd.cncf.flux.config.v1+json', size: 2 },
      layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', size: LAYER.length }],
    })
  })

  test('the manifest depends on the layer and the annotations alone', () => {
    expect(toArtifact(LAYER, { a: '1', b: '2' }).manifest.digest).toBe(ARTIFACT.manifest.digest)
    expect(toArtifact(LAYER, { a: '1' }).manifest.digest).not.toBe(ARTIFACT.manifest.digest)
  })

  test.each([
    ['an image', { config: { mediaType: 'application/vnd.oci.image.config.v1+json' }, layers: manifest.layers }],
    ['an index', { manifests: [] }],
    ['several layers', { ...manifest, layers: [...manifest.layers, ...manifest.layers] }],
    ['a layer without a digest', { ...manifest, layers: [{ ...manifest.layers[0], digest: '../x' }] }],
    ['nothing where something should be', { config: null, layers: [null] }],
  ])('layerOf finds no layer in the manifest of %s', (_, other) => {
    expect(layerOf(Buffer.from(JSON.stringify(other)))).toBeUndefined()
  })
})

describe('a push', () => {
  test('a push writes the blobs and the extra tag before the tag', async () => {
    const registry = await memoryRegistry()
    const store = storeAt(registry)
    expect(await store.find()).toBeUndefined()
    expect(await store.push(ARTIFACT, undefined, ['staging-1'])).toBe(true)
    expect([...registry.manifests.keys()]).toEqual(['staging-1', 'staging'])
    const written = registry.asked().filter(one => one.startsWith('PUT'))
    expect(written.slice(-2)).toEqual(['PUT /v2/team/shop/manifests/staging-1', 'PUT /v2/team/shop/manifests/staging'])
    const found = await store.find()
    expect(found?.digest).toBe(ARTIFACT.manifest.digest)
    expect(Buffer.from(found!.layer!).toString()).toBe(LAYER.toString())
  })

  test('a push does not upload blobs that exist', async () => {
    const registry = await memoryRegistry()
    await storeAt(registry).push(ARTIFACT, undefined, [])
    const before = registry.requests.length
    await storeAt(registry).push(ARTIFACT, ARTIFACT.manifest.digest, [])
    expect(
      registry
        .asked()
        .slice(before)
        .some(one => one.startsWith('POST')),
    ).toBe(false)
  })

  test('a push does not overwrite a tag that was moved meanwhile', async () => {
    const registry = await memoryRegistry()
    const other = toArtifact(Buffer.from('another'), {})
    await storeAt(registry).push(other, undefined, [])
    expect(await storeAt(registry).push(ARTIFACT, undefined, [])).toBe(false)
    expect(registry.manifests.get('staging')!.bytes.toString()).toBe(Buffer.from(other.manifest.bytes).toString())
  })

  test('a push requests one token, for both pull and push', async () => {
    const scopes: (string | null)[] = []
    const registry = await memoryRegistry(({ path, headers }, response, server) => {
      if (path.startsWith('/token')) {
        scopes.push(new URL(path, server.origin).searchParams.get('scope'))
        response.end('{"token":"abc"}')
        return true
      }
      if (headers.authorization === 'Bearer abc') return false
      const challenge = `Bearer realm="${server.origin}/token",service="the registry",scope="repository:team/shop:pull"`
      refuse(response, 401, 'UNAUTHORIZED', { 'www-authenticate': challenge })
      return true
    })
    expect(await storeAt(registry, ANN).push(ARTIFACT, undefined, [])).toBe(true)
    expect(scopes).toEqual(['repository:team/shop:pull,push'])
  })

  test('a push continues after a lost upload and after a temporary failure of the registry', async () => {
    let [uploads, troubles] = [0, 0]
    const registry = await memoryRegistry(({ method, path }, response) => {
      if (method === 'PUT' && path.includes('/uploads/') && ++uploads === 1) {
        refuse(response, 404, 'BLOB_UPLOAD_UNKNOWN')
        return true
      }
      if (method !== 'PUT' || !path.endsWith('/staging') || ++troubles > 1) return false
      refuse(response, 503, 'UNAVAILABLE')
      return true
    })
    expect(await storeAt(registry).push(ARTIFACT, undefined, [])).toBe(true)
    expect(registry.manifests.has('staging')).toBe(true)
  })

  test('a push is tried again when the connection is cut in the middle of a blob', async () => {
    let cuts = 0
    const registry = await memoryRegistry(({ method, path }, response) => {
      if (method !== 'PUT' || !path.includes('/uploads/') || ++cuts > 1) return false
      response.destroy()
      return true
    })
    expect(await storeAt(registry).push(ARTIFACT, undefined, [])).toBe(true)
  })
})

describe('refusals of a registry', () => {
  const refusing = (method: string, part: string, status: number, code: string) =>
    memoryRegistry((request, response) => {
      if (request.method !== method || !request.path.includes(part)) return false
      refuse(response, status, code)
      return true
    })

  test.each([
    [
      401,
      'UNAUTHORIZED',
      /^a login is needed to push `127.0.0.1:\d+\/team\/shop:staging`\n.*\nlog in: `docker login 127/,
    ],
    [403, 'DENIED', /^a login is needed to push `/],
    [404, 'NAME_UNKNOWN', /^the registry `127.0.0.1:\d+` has no repository `team\/shop`\ncreate it, or check its name/],
    [405, 'UNSUPPORTED', /does not take `.*` \(405\)\nthe registry says: UNSUPPORTED: .*\nit may be read-only/],
    [413, 'SIZE_INVALID', /it does not accept artifacts of that size/],
    [500, 'INTERNAL', /is failing \(status 500\)\nthe registry says: INTERNAL: /],
  ])('a refusal of an upload with status %i is explained', async (status, code, words) => {
    const registry = await refusing('POST', '/uploads/', status, code)
    expect(await failureOf(storeAt(registry).push(ARTIFACT, undefined, []))).toMatch(words)
    expect(registry.manifests.size).toBe(0)
  })

  test.each([
    [400, 'MANIFEST_INVALID', /\(400\)\nthe registry says: MANIFEST_INVALID: .*\nit must support OCI artifacts/],
    [415, 'UNSUPPORTED', /it may be read-only/],
    [409, 'TAG_IMMUTABLE', /its tags cannot be moved: name another tag/],
  ])('a refusal of a manifest with status %i leaves the tag unchanged', async (status, code, words) => {
    const registry = await refusing('PUT', '/manifests/', status, code)
    expect(await failureOf(storeAt(registry).push(ARTIFACT, undefined, ['staging-1']))).toMatch(words)
    expect(registry.manifests.size).toBe(0)
  })

  test('a refusal with a login is explained without the password', async () => {
    const registry = await memoryRegistry(({ method, headers }, response) => {
      if (headers.authorization === undefined)
        refuse(response, 401, 'UNAUTHORIZED', { 'www-authenticate': 'Basic realm="it"' })
      else if (method === 'POST') refuse(response, 403, 'DENIED')
      else return false
      return true
    })
    const said = await failureOf(storeAt(registry, ANN).push(ARTIFACT, undefined, []))
    expect(said).toMatch(/^the login for `127.0.0.1:\d+` is not allowed to push `/)
    expect(said).not.toContain(PASSWORD)
  })

  test('a push refuses to upload to another server without encryption', async () => {
    const registry = await memoryRegistry(({ method }, response) => {
      if (method !== 'POST') return false
      response.writeHead(202, { location: 'http://registry.example.com/upload' }).end()
      return true
    })
    const said = await failureOf(storeAt(registry, ANN).push(ARTIFACT, undefined, []))
    expect(said).toMatch(/is not a registry: it redirects elsewhere, to `registry.example.com`/)
  })
})

describe('find', () => {
  test('find does not read the layers of an image', async () => {
    const registry = await memoryRegistry()
    const manifest = {
      schemaVersion: 2,
      config: { mediaType: 'application/vnd.oci.image.config.v1+json' },
      layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', digest: 'sha256:1', size: 1e9 }],
    }
    registry.manifests.set('staging', {
      type: 'application/vnd.oci.image.manifest.v1+json',
      bytes: Buffer.from(JSON.stringify(manifest)),
    })
    expect(await storeAt(registry).find()).toEqual({ digest: expect.stringMatching(/^sha256:/) })
    expect(registry.asked()).not.toContainEqual(expect.stringContaining('/blobs/'))
  })

  test('find refuses content that does not match its digest', async () => {
    const registry = await memoryRegistry()
    await storeAt(registry).push(ARTIFACT, undefined, [])
    registry.blobs.set(ARTIFACT.blobs[1]!.digest, Buffer.from('something else'))
    expect(await failureOf(storeAt(registry).find())).toMatch(
      /the content that it gives for `sha256:.*` does not match/,
    )
  })

  test('find reports a web server that is not a registry', async () => {
    const registry = await memoryRegistry((_, response) => {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<html>')
      return true
    })
    expect(await failureOf(storeAt(registry).find())).toMatch(/is not a registry: it answers `\/v2\/` with status 404/)
  })
})
