import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import type { NetworkProof } from '../../../platform/install/checks/network-proof.ts'
import { clusterWith, type ProofSpec, prove, said } from '../../support/platform/proof-cluster.ts'

test('the program of the Pod distinguishes open addresses from closed ones', async () => {
  const cluster = await clusterWith(said({}))
  await prove(cluster)
  const [node, ...args] = (cluster.started[0]!['spec'] as ProofSpec).containers[0]!.command
  expect(node).toBe('node')
  const server = createServer(socket => socket.end()).listen(0, '127.0.0.1')
  const folder = mkdtempSync(join(tmpdir(), 'devctl-proof-'))
  onTestFinished(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port: nobody } = closed.address() as AddressInfo
  closed.close()
  const run = async (kubernetes: number): Promise<NetworkProof & { readonly hasNetwork: boolean }> => {
    const env = {
      TARGETS: JSON.stringify([`127.0.0.1:${port}`, `127.0.0.1:${nobody}`]),
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String(kubernetes),
      RESULT: join(folder, `${kubernetes}`),
    }
    await promisify(execFile)(process.execPath, args, { env })
    return JSON.parse(readFileSync(env.RESULT, 'utf8'))
  }
  const [open, none] = await Promise.all([run(port), run(nobody)])
  expect(open).toMatchObject({ reached: [`127.0.0.1:${port}`], hasNetwork: true })
  expect(none).toMatchObject({ hasNetwork: false })
})
