import { beforeEach, describe, expect, test } from 'vitest'
import { findForwardTarget } from '../../../../environment/status/forward-target.ts'
import type { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'
import { ENVIRONMENT, NAMESPACE, never, newCluster, object, ref } from '../../../support/objects/deploying.ts'

let cluster: MemoryCluster
beforeEach(async () => {
  cluster = newCluster()
  const selector = { 'dev.platform/environment': ENVIRONMENT, 'dev.platform/service': 'web' }
  const front = (name: string, port: object) => object('Service', name, { spec: { selector, ports: [port] } }, name)
  await cluster.create(front('web', { port: 8080, targetPort: 80 }))
  await cluster.create(front('admin', { port: 9000, targetPort: 9001 }))
})

const find = (service: string, port: number) =>
  findForwardTarget(cluster, { environment: ENVIRONMENT, namespace: NAMESPACE, service, port }, never)

describe('findForwardTarget', () => {
  test.each([
    ['a service', 'web', 8080, 80],
    ['a service in the Pods of another', 'admin', 9000, 9001],
    ['a port that the Service does not list', 'web', 5000, 5000],
  ])('finds the Pod and its port for %s', async (_, service, port, expected) => {
    const pod = object('Pod', 'web-1', { spec: { containers: [{ name: 'web' }, { name: 'admin' }] } }, 'web')
    await cluster.create(pod)
    cluster.act(ref(pod), live => ({ ...live, status: { phase: 'Running' } }))
    expect(await find(service, port)).toEqual({ pod: 'web-1', namespace: NAMESPACE, port: expected })
  })

  test('tells how to start a service without Pods', async () => {
    await expect(find('web', 8080)).rejects.toMatchObject({
      message: 'no Pod of `web` is running',
      hint: '`devctl ps web` shows why; `devctl start web` starts a stopped service',
    })
  })
})
