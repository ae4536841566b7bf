import { connect, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { forward } from '../../../../operations/forward/forward.ts'
import { startExecServer } from '../../../support/exec-server.ts'
import { deploy, newCluster, object, ref, wanted, workload } from '../../../support/objects/deploying.ts'
import { operationOn } from '../../../support/objects/environment.ts'

async function readyCluster() {
  const cluster = newCluster()
  await deploy(cluster, wanted([], [workload('Deployment', 'web')]))
  const pod = object('Pod', 'web-1', { spec: { containers: [{ name: 'web' }] } }, 'web')
  await cluster.create(pod)
  cluster.act(ref(pod), live => ({ ...live, status: { phase: 'Running' } }))
  return cluster
}

test('a forward that is cancelled as soon as it listens ends', { timeout: 10_000 }, async () => {
  const cluster = await readyCluster()
  const stop = new AbortController()
  const { world, project, name } = await operationOn(cluster, { signal: stop.signal })
  const input = { name, service: 'web', ports: [{ local: 0, remote: 80 }] }
  const cancel = () => stop.abort(new Error('cancelled'))
  await expect(forward(world, input, project, cancel)).rejects.toThrow('cancelled')
})

test('the hint for the last port, which is in use, names the port before it', async () => {
  const server = createServer()
  onTestFinished(() => void server.close())
  // If another program uses the port, that does as well.
  await new Promise<void>(resolve => server.once('error', () => resolve()).listen(65535, '127.0.0.1', resolve))
  const { world, project, name } = await operationOn(await readyCluster())
  const input = { name, service: 'web', ports: [{ local: 65535, remote: 80 }] }
  await expect(forward(world, input, project, () => {})).rejects.toMatchObject({
    hint: expect.stringContaining('`devctl forward web 65534:80`'),
  })
})

test('a client gets everything that the Pod has sent before it closed the connection', async () => {
  const size = 2_000_000
  const access = await startExecServer('v4.channel.k8s.io', socket => {
    for (const channel of [0, 1]) socket.send(Buffer.from([channel, 80, 0]))
    for (let left = size; left > 0; left -= 16_000) socket.send(Buffer.alloc(16_001))
    socket.close()
  })
  const stop = new AbortController()
  const { world, events, project, name } = await operationOn(await readyCluster(), { signal: stop.signal })
  let got = 0
  const download = async (local: string) => {
    for await (const part of connect(Number(local.split(':').at(-1)), '127.0.0.1')) {
      got += part.length
      await new Promise(resolve => setTimeout(resolve, 1))
    }
  }
  const listening = (local: string) => void download(local).finally(() => stop.abort(new Error('done')))
  const session = { ...world.session, access: { ...world.session.access, ...access } }
  const input = { name, service: 'web', ports: [{ local: 0, remote: 80 }] }
  await expect(forward({ ...world, session }, input, project, listening)).rejects.toThrow('done')
  expect(got).toBe(size)
  expect(events).toEqual([])
})
