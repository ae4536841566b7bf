import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type KubeconfigAccess, kubeconfigAccess } from '../../../adapters/kubernetes/connection.ts'
import { execTarget, openCommand } from '../../../develop/exec/run-command.ts'
import { Polling } from '../../../develop/session/polling.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { startPod, TOOLS_CONTAINER, TOOLS_MOUNT } from './pod.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

/** Folder that does not exist, so that nothing is remembered. */
const NO_FOLDER = join(tmpdir(), 'devctl-none')

describe.skipIf(cluster === undefined)('a remote command that ends before it has read its input', () => {
  const namespace = `announced-${process.pid}`
  let access: KubeconfigAccess

  beforeAll(async () => {
    await cluster!.createNamespace(namespace)
    await startPod(cluster!, namespace, 'box', {
      initContainers: [TOOLS_CONTAINER],
      containers: [{ name: 'main', image: 'busybox:1.37', command: ['sleep', '3600'], volumeMounts: [TOOLS_MOUNT] }],
      volumes: [{ name: 'tools', emptyDir: {} }],
    })
    access = await kubeconfigAccess(undefined, process.env)
  })
  afterAll(async () => {
    await cluster?.deleteNamespace(namespace)
    cluster?.close()
  })

  async function run(script: string, input: Readable | undefined) {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'box' } }
    const command = { namespace, container: 'main', command: ['sh', '-c', script], polling: new Polling(NO_FOLDER) }
    const target = execTarget(command, pod, { size: undefined, type: undefined })
    const remote = await openCommand(access, target, AbortSignal.timeout(60_000))
    onTestFinished(() => remote.destroy())
    input?.pipe(remote.stdin)
    const [status, out, err] = await Promise.all([remote.exit, text(remote.stdout), text(remote.stderr)])
    return { status, out, err }
  }
  const endless = () => new Readable({ read() {}, highWaterMark: 1 })

  test('a remote command returns its status and output while its input is still flowing', async () => {
    for (let index = 0; index < (TAKES_ALL ? 8 : 1); index++) {
      const flood = new Readable({ read: size => void setImmediate(() => flood.push(Buffer.alloc(size))) })
      expect(await run('head -c 10 >/dev/null; echo out; echo err >&2; exit 3', flood)).toEqual({
        status: 3,
        out: 'out\n',
        err: 'err\n',
      })
      flood.destroy()
    }
  })

  longTest('a remote command does not wait for a silent input', async () => {
    const took: number[] = []
    // Waiting would take three seconds each time; a busy machine is not that slow three times in a row.
    for (let attempt = 0; attempt < 3; attempt++) {
      const began = performance.now()
      expect(await run('exit 4', endless())).toEqual({ status: 4, out: '', err: '' })
      took.push(performance.now() - began)
    }
    expect(Math.min(...took)).toBeLessThan(2500)
  })

  test('a remote command reads all of its input, and output like the announcement is kept', async () => {
    const bytes = randomBytes(3_000_000)
    const counted = await run('wc -c; printf "\\000devctl:0 1\\000" >&2; printf "\\000" >&2', Readable.from([bytes]))
    expect(counted).toEqual({ status: 0, out: '3000000\n', err: '\0devctl:0 1\0\0' })
  })
})
