import { describe, expect, test } from 'vitest'
import { ClusterError, type KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { addSecretKeys, missingKeys } from '../../../../environment/apply/secret-keys.ts'
import type { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'
import { NAMESPACE, newCluster } from '../../../support/objects/deploying.ts'

const NAME = { namespace: NAMESPACE, name: 'shop-db' }
const REF = { apiVersion: 'v1', kind: 'Secret', ...NAME }

const secret = (fields: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { ...NAME, ...metadata },
  data: { other: 'b3RoZXI=' },
  ...fields,
})

const values = (text: string) => new Map([['password', new TextEncoder().encode(text)]])
const add = (cluster: MemoryCluster, text = 'hunter2') => addSecretKeys(cluster, NAME, values(text), {})
const dataIn = async (cluster: MemoryCluster) => (await cluster.get(REF))?.['data']

describe('addSecretKeys', () => {
  test('addSecretKeys creates a missing Secret, without labels', async () => {
    const cluster = newCluster()
    expect(await missingKeys(cluster, NAME, ['password', 'other'], {})).toEqual(['password', 'other'])
    expect(await add(cluster)).toBe('created')
    expect(await cluster.get(REF)).toMatchObject({ type: 'Opaque', data: { password: 'aHVudGVyMg==' } })
    expect((await cluster.get(REF))?.metadata.labels).toBeUndefined()
    expect(await missingKeys(cluster, NAME, ['password'], {})).toEqual([])
  })

  test('addSecretKeys adds missing keys to a Secret, and keeps the values of existing keys', async () => {
    const cluster = newCluster()
    await cluster.create(secret())
    expect(await missingKeys(cluster, NAME, ['other', 'password'], {})).toEqual(['password'])
    expect(await add(cluster)).toBe('extended')
    expect(await add(cluster, 'hunter3')).toBe('extended')
    expect(await dataIn(cluster)).toEqual({ other: 'b3RoZXI=', password: 'aHVudGVyMg==' })
  })

  test('addSecretKeys extends a Secret that another user creates meanwhile', async () => {
    const cluster = newCluster()
    let isFirst = true
    cluster.before = async ({ verb }) => {
      if (verb !== 'create' || !isFirst) return
      isFirst = false
      await cluster.create(secret())
    }
    expect(await add(cluster)).toBe('extended')
    expect(await dataIn(cluster)).toEqual({ other: 'b3RoZXI=', password: 'aHVudGVyMg==' })
  })

  test('addSecretKeys gives up after five conflicts', async () => {
    const cluster = newCluster()
    await cluster.create(secret())
    cluster.before = ({ verb }) => {
      if (verb === 'update') throw new ClusterError('conflict', 'changed')
    }
    await expect(add(cluster)).rejects.toThrow('changed')
    expect(cluster.calls.filter(({ verb }) => verb === 'update').length).toBe(5)
  })

  test('addSecretKeys fails if the user may not read Secrets', async () => {
    const cluster = newCluster()
    cluster.before = ({ verb }) => {
      if (verb === 'get') throw new ClusterError('forbidden', 'may not get secrets')
    }
    await expect(add(cluster)).rejects.toThrow('may not get secrets')
  })

  test.each([
    ['is immutable', secret({ immutable: true })],
    [
      'is managed by ExternalSecret `shop-db`',
      secret(
        {},
        {
          ownerReferences: [
            {
              apiVersion: 'external-secrets.io/v1',
              kind: 'ExternalSecret',
              name: 'shop-db',
              uid: 'u',
              controller: true,
            },
          ],
        },
      ),
    ],
  ])('addSecretKeys refuses a Secret that %s', async (why, there) => {
    const cluster = newCluster()
    await cluster.create(there)
    await expect(add(cluster)).rejects.toThrow(`the Secret \`shop-db\` ${why}`)
    expect(await dataIn(cluster)).toEqual({ other: 'b3RoZXI=' })
  })

  test('addSecretKeys refuses a Secret that is being deleted', async () => {
    const cluster = newCluster()
    await cluster.create(secret({}, { finalizers: ['example.com/keep'] }))
    await cluster.delete(REF)
    await expect(add(cluster)).rejects.toThrow('is being deleted')
  })
})
