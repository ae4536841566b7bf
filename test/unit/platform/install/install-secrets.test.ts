import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFirstKey } from '../../../../platform/install/install-secrets.ts'
import { platformObjects } from '../../../../platform/install/manifests/server.ts'
import { readKeys, sealingWith } from '../../../../platform/server/leader/sealed.ts'
import { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'

const ref = { apiVersion: 'v1', kind: 'Secret', name: 'keys', namespace: 'devctl-platform' }
const { signal } = new AbortController()

test('the server can read the first key, and a second installation keeps it', async () => {
  const cluster = new MemoryCluster({ namespaces: ['devctl-platform'] })
  await makeFirstKey(cluster, signal)
  const first = await cluster.get(ref)
  await makeFirstKey(cluster, signal)
  expect(await cluster.get(ref)).toEqual(first)
  const { k1 } = first!['data'] as { readonly k1: string }
  const folder = mkdtempSync(join(tmpdir(), 'devctl-key-'))
  writeFileSync(join(folder, 'k1'), Buffer.from(k1, 'base64'))
  const { seal, open } = sealingWith({ read: () => readKeys(folder), now: () => 0 })
  rmSync(folder, { recursive: true })
  expect(open(seal('text', 'here'), 'here')).toBe('text')
})

test('platformObjects contains no Secret, so an upgrade does not replace the key', () => {
  const one = { version: '', domain: '', image: '', runnerImage: '', replicas: 1, kubernetes: { server: '' } }
  const secrets = platformObjects(one).filter(({ kind }) => kind === 'Secret')
  expect(secrets).toEqual([])
})
