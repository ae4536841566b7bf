import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { resolveDigests } from '../../../adapters/registry/registry-client.ts'
import { findCluster } from '../../support/cluster/cluster.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined
cluster?.close()

const REGISTRY = '127.0.0.1:5000'
const FORMS = 'application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json'
const V2 = 'application/vnd.docker.distribution.manifest.v2+json'

const resolve = (...references: readonly string[]) =>
  resolveDigests(references, {
    env: { DOCKER_CONFIG: '/nonexistent' },
    signal: AbortSignal.timeout(60_000),
    retries: { pause: 10 },
  })

describe.skipIf(cluster === undefined)('the registry of the test cluster', () => {
  test('resolveDigests finds the digest of each tag in the registry', async () => {
    const names = ['library/busybox:1.37', 'library/nginx:alpine', 'library/redis'].map(name => `${REGISTRY}/${name}`)
    const resolved = await resolve(...names)
    for (const name of names) {
      const [, repository, tag = 'latest'] = /^[^/]+\/([^:]+)(?::(.+))?$/.exec(name)!
      const headers = { accept: `${FORMS}, ${V2}` }
      const manifest = await fetch(`http://${REGISTRY}/v2/${repository}/manifests/${tag}`, { headers })
      const text = Buffer.from(await manifest.arrayBuffer())
      if (manifest.status === 404) {
        expect(resolved.get(name), name).toEqual({ problem: { kind: 'missing' } })
        continue
      }
      expect(manifest.status, name).toBe(200)
      const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`
      expect(resolved.get(name), name).toEqual({ digest })
    }
    expect(resolved.get(`${REGISTRY}/library/busybox:1.37`)).toHaveProperty('digest')
  })

  test('resolveDigests finds the same digest under every name of the local machine', async () => {
    const names = [`${REGISTRY}/library/busybox:1.37`, 'localhost:5000/library/busybox:1.37']
    const resolved = await resolve(...names)
    expect(resolved.get(names[1]!)).toEqual(resolved.get(names[0]!))
  })

  test('resolveDigests reports missing images', async () => {
    const resolved = await resolve(`${REGISTRY}/library/busybox:none`, `${REGISTRY}/nobody/has-this:1`)
    expect([...resolved.values()]).toEqual([{ problem: { kind: 'missing' } }, { problem: { kind: 'missing' } }])
  })
})
