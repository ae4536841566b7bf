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

describe('keys of a Secret', () => {
  test('are added to a new one, which has no labels by which anybody would delete it', async () => {
    const cluster = newCluster()
    expect(await missingKeys(cluster, NAME, ['password', 'other'], {})).toEqual(['password', 'other'])
    expect(await add(cluster)).toBe('created')
    expect(await cluster.get(REF)).toMatchObject({ type: 'Opaque', data: { password: 'aHVudGVyMg==' } })
    expect((await cluster.get(REF))?.metadata.labels).toBeUndefined()
    expect(await missingKeys(cluster, NAME, ['password'], {})).toEqual([])
  })

  test('are added beside what is there; a key that is there keeps its value', async () => {
    const cluster = newCluster()
    await cluster.create(secret())
    expect(await missingKeys(cluster, NAME, ['other', 'password'], {})).toEqual(['password'])
    expect(await add(cluster)).toBe('extended')
    expect(await add(cluster, 'hunter3')).toBe('extended')
    expect(await dataIn(cluster)).toEqual({ other: 'b3RoZXI=', password: 'aHVudGVyMg==' })
  })

  test('somebody who is faster loses nothing', async () => {
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

  test('one that is always changed by others is given up', async () => {
    const cluster = newCluster()
    await cluster.create(secret())
    cluster.before = ({ verb }) => {
      if (verb === 'update') throw new ClusterError('conflict', 'changed')
    }
    await expect(add(cluster)).rejects.toThrow('changed')
    expect(cluster.calls.filter(({ verb }) => verb === 'update').length).toBe(5)
  })

  test('who may not read Secrets is told so', async () => {
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
  ])('one that %s is refused', async (why, there) => {
    const cluster = newCluster()
    await cluster.create(there)
    await expect(add(cluster)).rejects.toThrow(`the Secret \`shop-db\` ${why}`)
    expect(await dataIn(cluster)).toEqual({ other: 'b3RoZXI=' })
  })

  test('one that is being deleted is refused', async () => {
    const cluster = newCluster()
    await cluster.create(secret({}, { finalizers: ['example.com/keep'] }))
    await cluster.delete(REF)
    await expect(add(cluster)).rejects.toThrow('is being deleted')
  })
})
