import { expect, test } from 'vitest'
import { forward } from '../../../../operations/forward/forward.ts'
import { deploy, newCluster, object, ref, wanted, workload } from '../../../support/objects/deploying.ts'
import { operationOn } from '../../../support/objects/environment.ts'

test('a forward that is cancelled as soon as it listens ends', { timeout: 10_000 }, async () => {
  const cluster = newCluster()
  await deploy(cluster, wanted([], [workload('Deployment', 'web')]))
  const pod = object('Pod', 'web-1', { spec: { containers: [{ name: 'web' }] } }, 'web')
  await cluster.create(pod)
  cluster.act(ref(pod), live => ({ ...live, status: { phase: 'Running' } }))
  const stop = new AbortController()
  const { world, project, name } = await operationOn(cluster, { signal: stop.signal })
  const input = { name, service: 'web', ports: [{ local: 0, remote: 80 }] }
  const cancel = () => stop.abort(new Error('cancelled'))
  await expect(forward(world, input, project, cancel)).rejects.toThrow('cancelled')
})
