import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emptiedName } from '../../../platform/records/emptied.ts'
import { leaderLease } from '../../../platform/records/leader.ts'
import { USERS_NAMESPACE } from '../../../platform/records/names.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { openPlatform, type TestPlatform } from '../../support/platform/open-platform.ts'
import { makeServer, type ServerProcess, startServer } from '../../support/platform/server-process.ts'

// A server is killed while it empties a personal namespace.

/**
 * Finalizer of Kubernetes itself; the test cluster has no cloud controller that removes it. Any other finalizer would
 * block the deletion before it begins.
 */
const HOLD = 'service.kubernetes.io/load-balancer-cleanup'

describe.skipIf(!process.env.KUBECONFIG)('a personal namespace that is emptied', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-emptied-'))
  let platform: TestPlatform
  let server: ServerProcess | undefined
  beforeAll(async () => {
    platform = await openPlatform()
    await makeServer(folder, platform)
  })
  afterAll(async () => {
    server?.process.kill('SIGKILL')
    rmSync(folder, { recursive: true })
    await platform?.close()
  })

  test('a personal namespace keeps its members although the server that empties it is killed', async () => {
    const [ann, bob] = [await platform.person('ann'), await platform.person('bob')]
    const params = { ns: ann.home, user: bob.id }
    await platform.call('PUT /namespaces/:ns/members/:user', { token: ann.token, params, body: { role: 'viewer' } })
    const live = () => platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: ann.home })
    const uid = (await live())!.metadata.uid
    // An object in the namespace delays its deletion.
    const held = { apiVersion: 'v1', kind: 'Service', name: 'held', namespace: ann.home }
    await platform.cluster.create({
      apiVersion: held.apiVersion,
      kind: held.kind,
      metadata: { name: held.name, namespace: held.namespace, finalizers: [HOLD] },
      spec: { ports: [{ port: 80 }] },
    })
    server = await startServer(folder)
    expect((await platform.call('DELETE /namespaces/:ns', { token: ann.token, params })).status).toBe(204)
    const query = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', namespace: ann.home }
    await eventually('it goes, and nobody is a member any more', async () =>
      (await live())?.metadata.deletionTimestamp && (await platform.cluster.list(query)).length === 0
        ? true
        : undefined,
    )
    server.isKilled = true
    server.process.kill('SIGKILL')
    await once(server.process, 'exit')
    // The next server need not wait until the Lease has expired.
    await platform.cluster.delete(leaderLease)
    await platform.cluster.patch(held, { metadata: { finalizers: null } }, { manager: 'test' })
    await eventually('it is gone', async () => ((await live())?.metadata.uid === uid ? undefined : true))
    // The login of its owner creates the namespace again before the server does.
    await platform.person('ann')
    server = await startServer(folder)
    const members = await eventually('it has its members again', async () => {
      const { body } = await platform.call('GET /namespaces/:ns', { token: ann.token, params })
      return body.members?.length === 2 ? body.members : undefined
    })
    expect(members.find(({ user }) => user.id === bob.id)?.role).toBe('viewer')
    const record = { apiVersion: 'v1', kind: 'Secret', name: emptiedName(ann.id), namespace: USERS_NAMESPACE }
    await eventually('nothing is left of that', async () => ((await platform.cluster.get(record)) ? undefined : true))
  })
})
