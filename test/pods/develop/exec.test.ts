import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { ClusterError } from '../../../adapters/kubernetes/cluster.ts'
import { type Access, kubeconfigAccess } from '../../../adapters/kubernetes/connection.ts'
import { type ExecProcess, type ExecTarget, openExec } from '../../../adapters/kubernetes/exec.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { adminOf, editorToken, writeKubeconfig } from '../../support/cluster/kubeconfigs.ts'
import { startProxy, startSilence } from '../../support/cluster/proxy.ts'
import { TcpProxy } from '../../support/cluster/tcp-proxy.ts'
import { longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { startPod } from './pod.ts'

/** Number of megabytes, more than the pipes and buffers in between hold. */
const MEGABYTES = TAKES_ALL ? 20 : 8

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

describe.skipIf(cluster === undefined)('openExec', () => {
  const namespace = `exec-${process.pid}`
  let access: Access
  let folder = ''

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'devctl-exec-'))
    await cluster!.createNamespace(namespace)
    await startPod(cluster!, namespace, 'box', {
      containers: [{ name: 'main', image: 'node:22-alpine', command: ['sleep', '3600'] }],
    })
    access = await kubeconfigAccess(undefined, process.env)
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await cluster?.deleteNamespace(namespace)
    cluster?.close()
  })

  const target = (command: readonly string[], more: Partial<ExecTarget> = {}): ExecTarget => ({
    pod: 'box',
    namespace,
    container: 'main',
    command,
    stdin: true,
    ...more,
  })
  const sh = (script: string, more: Partial<ExecTarget> = {}, way = access) =>
    openExec(way, target(['sh', '-c', script], more), {}, {})

  /** Returns an access through something on 127.0.0.1 other than the API server's own port. */
  const through = (file: string) => kubeconfigAccess(undefined, { KUBECONFIG: file, PATH: process.env.PATH })
  function accessWith(name: string, cluster: Readonly<Record<string, unknown>>, user?: Record<string, unknown>) {
    const admin = adminOf(process.env.KUBECONFIG!)
    const own = { 'client-certificate-data': admin.certificate, 'client-key-data': admin.key }
    const trusted = { server: admin.server, 'certificate-authority-data': admin.authority, ...cluster }
    return through(writeKubeconfig(folder, { cluster: trusted, user: user ?? own }, name))
  }
  async function startCut() {
    const { hostname, port } = new URL(adminOf(process.env.KUBECONFIG!).server)
    const proxy = await TcpProxy.start(hostname, Number(port))
    onTestFinished(() => proxy.close())
    return { proxy, way: await accessWith('cut', { server: `https://127.0.0.1:${proxy.port}` }) }
  }

  test('openExec returns the output, the errors and the exit status', async () => {
    const process = await sh('echo out; echo err >&2; exit 37', { stdin: false })
    const [out, err, status] = await Promise.all([text(process.stdout), text(process.stderr), process.exit])
    expect({ out, err, status }).toEqual({ out: 'out\n', err: 'err\n', status: 37 })
    expect(await (await sh('exit 0')).exit).toBe(0)
    expect(await (await sh('kill -9 $$')).exit).toBe(137)
  })

  test(`openExec carries ${MEGABYTES} MB there and back, and closes the input after the last byte`, async () => {
    const bytes = randomBytes(MEGABYTES * 1_000_000)
    const process = await openExec(access, target(['cat']))
    process.stdin.end(bytes)
    const [hash, status] = await Promise.all([hashOf(process.stdout), process.exit, process.stderr.resume()])
    expect({ hash, status }).toEqual({ hash: createHash('sha256').update(bytes).digest('hex'), status: 0 })
  })

  test('a command without an input reads its end', async () => {
    const process = await sh('cat; echo end', { stdin: false })
    expect(await text(process.stdout)).toBe('end\n')
  })

  test('a terminal has its size and follows a resize', async () => {
    // The command may start before its terminal has a size.
    const script = `trap '[ "$(stty size)" = "22 77" ] && { stty size; exit 3; }' WINCH
until [ "$(stty size)" != "0 0" ]; do sleep 0.05; done; stty size; while :; do sleep 0.05; done`
    const process = await sh(script, { tty: { columns: 101, rows: 31 } })
    const said = collect(process)
    await said.until(/31 101/)
    process.resize(77, 22)
    expect(await process.exit).toBe(3)
    expect(said.all()).toMatch(/22 77/)
  })

  test('a terminal passes Ctrl-C on to the program', async () => {
    const process = await sh('trap "echo interrupted; exit 4" INT; echo wait; while :; do sleep 0.05; done', {
      tty: { columns: 80, rows: 24 },
    })
    const said = collect(process)
    await said.until(/wait/)
    process.stdin.write('\x03')
    expect(await process.exit).toBe(4)
    expect(said.all()).toMatch(/interrupted/)
  })

  test('a slow reader holds the command back', async () => {
    const process = await sh(
      'yes 0123456789012345 & pid=$!; sleep 3; kill -STOP $pid; cat /proc/$pid/io > /tmp/io; mv /tmp/io /tmp/held; kill -9 $pid',
    )
    // The test does not read stdout, so the pipe on the node and the buffers in between soon fill up.
    const waits = await sh('until test -f /tmp/held; do sleep 0.2; done; cat /tmp/held')
    const written = Number(/wchar: (\d+)/.exec(await text(waits.stdout))?.[1])
    expect(process.stdout.readableLength).toBeLessThan(1_000_000)
    process.stdout.resume()
    expect(written).toBeGreaterThan(100_000)
    expect(written).toBeLessThan(100_000_000)
    process.destroy()
  })

  longTest('a command that reads nothing holds the writer back', async () => {
    const process = await sh('sleep 3600')
    let written = 0
    while (written < 400e6) {
      if (!process.stdin.write(Buffer.alloc(1 << 20))) {
        const drained = new Promise(resolve => process.stdin.once('drain', () => resolve(true)))
        const late = new Promise(resolve => setTimeout(() => resolve(false), 2000))
        if (!(await Promise.race([drained, late]))) break
      }
      written += 1 << 20
    }
    expect(written).toBeLessThan(200e6)
    process.destroy()
    await expect(process.exit).rejects.toMatchObject({ failure: 'unreachable' })
  })

  test('openExec reports which program, container, Pod or permission is missing', async () => {
    const failure = async (change: Partial<ExecTarget>, way = access) => {
      const error: ClusterError = await openExec(way, target(['true'], change))
        .then(process => process.exit)
        .then(
          () => Promise.reject(new Error('it ran')),
          error => error,
        )
      return `${error.failure}: ${error.message.split('\n')[0]}`
    }
    expect(await failure({ command: ['no-such-program'] })).toBe(
      'not-found: `no-such-program` does not exist in container `main` of pod/box',
    )
    expect(await failure({ pod: 'none' })).toBe('not-found: pods "none" not found')
    expect(await failure({ container: 'none' })).toMatch(/^invalid: container none is not valid for pod box/)
    const viewer = await accessWith('nobody', {}, { token: await viewerToken() })
    expect(await failure({}, viewer)).toMatch(/^forbidden: .*cannot (create|get) resource "pods\/exec"/)
  })

  async function viewerToken(): Promise<string> {
    const { tokenFor } = await import('../../support/cluster/kubeconfigs.ts')
    return tokenFor(cluster!, namespace, { name: 'viewer', role: { kind: 'ClusterRole', name: 'view' } })
  }

  test('openExec replaces an expired token once', async () => {
    const token = await editorToken(cluster!, namespace)
    const tokens = ['expired', token]
    const admin = await accessWith('token', {}, { token: 'none' })
    const asked: boolean[] = []
    const way: Access = {
      server: admin.server,
      async connect(rejected) {
        const isFresh = rejected !== undefined
        asked.push(isFresh)
        const connection = await admin.connect()
        return { ...connection, headers: { authorization: `Bearer ${tokens[isFresh ? 1 : 0]}` } }
      },
    }
    expect(await (await sh('exit 5', {}, way)).exit).toBe(5)
    expect(asked).toEqual([false, true])
    tokens[1] = 'expired, too'
    await expect(sh('exit 5', {}, way)).rejects.toMatchObject({ failure: 'unauthorized' })
    expect(asked).toHaveLength(4)
  })

  test('openExec connects through the proxy of the kubeconfig', async () => {
    const server = new URL(adminOf(process.env.KUBECONFIG!).server)
    const proxy = await startProxy(server)
    onTestFinished(() => proxy.close())
    const way = await accessWith('proxy', { 'proxy-url': proxy.url })
    expect(await (await sh('exit 6', {}, way)).exit).toBe(6)
    expect(proxy.asked).toEqual([server.host])
  })

  test('a cut connection is an error of the streams and the status', async () => {
    const { proxy, way } = await startCut()
    const process = await sh('echo begun; sleep 3600', {}, way)
    const said = collect(process)
    await said.until(/begun/)
    proxy.cut()
    await expect(process.exit).rejects.toMatchObject({ failure: 'unreachable', message: /was cut/ })
    expect(process.stdout.errored).toMatchObject({ failure: 'unreachable' })
  })

  test('openExec finds a silent connection by its pings', async () => {
    const { proxy, way } = await startCut()
    const process = await openExec(way, target(['sleep', '3600']), {}, { ping: 100 })
    await new Promise(resolve => setTimeout(resolve, 500))
    proxy.hold()
    await expect(process.exit).rejects.toMatchObject({ failure: 'unreachable' })
  })

  test('openExec gives up a silent server after the handshake limit', async () => {
    const silence = await startSilence()
    onTestFinished(() => silence.close())
    const way = await accessWith('silence', { server: silence.url })
    await expect(openExec(way, target(['true']), {}, { handshake: 300 })).rejects.toMatchObject({
      failure: 'unreachable',
    })
  })

  test('the abort signal ends openExec before and after it is open', async () => {
    const ended = new Error('enough')
    await expect(openExec(access, target(['true']), { signal: AbortSignal.abort(ended) })).rejects.toBe(ended)
    const control = new AbortController()
    const process = await openExec(access, target(['sleep', '3600']), { signal: control.signal })
    control.abort(ended)
    await expect(process.exit).rejects.toBe(ended)
  })

  test('concurrent commands do not disturb each other', async () => {
    const all = Array.from({ length: TAKES_ALL ? 12 : 5 }, (_, index) => index)
    const statuses = await Promise.all(all.map(async index => (await sh(`sleep 0.2; exit ${index}`)).exit))
    expect(statuses).toEqual(all)
  })
})

async function hashOf(stream: Readable): Promise<string> {
  const hash = createHash('sha256')
  for await (const part of stream) hash.update(part)
  return hash.digest('hex')
}

/** Collects what a process writes to stdout. */
function collect({ stdout }: ExecProcess) {
  let said = ''
  const waiting = new Set<() => void>()
  stdout.on('data', part => {
    said += part
    for (const look of waiting) look()
  })
  return {
    all: () => said,
    until: (pattern: RegExp) =>
      new Promise<void>((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`not seen: ${pattern} in ${said}`)), 60_000)
        const look = () => {
          if (!pattern.test(said)) return
          clearTimeout(late)
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
  }
}
