import { expect, test } from 'vitest'
import type { Cluster } from '../../../../adapters/kubernetes/cluster.ts'
import { missingServices } from '../../../../develop/select/missing-services.ts'

const service = (name: string, port: number) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { ports: [{ port }] },
})
const cluster = { list: async () => [service('db', 5432), service('cache', 6379)] } as unknown as Cluster
const session = { cluster, namespace: 'shop', signal: new AbortController().signal }
const said = (name: string | undefined, remotePort: number) =>
  missingServices([{ localPort: 1, remotePort, service: name, whenBusy: 'move' }], session)

test.each([
  ['postgres', 5432, ['Service `postgres` of `forward` does not exist in shop; did you mean `db`?']],
  ['cash', 1, ['Service `cash` of `forward` does not exist in shop']],
  ['cach', 1, ['Service `cach` of `forward` does not exist in shop; did you mean `cache`?']],
  ['db', 1, []],
  ['db.other', 1, []],
  [undefined, 1, []],
])('missingServices checks the Service of a forward to %s:%i', async (name, port, text) => {
  expect(await said(name, port)).toEqual(text)
})
