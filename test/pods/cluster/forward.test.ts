import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { write } from '../../support/cli/folder.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { run } from '../../support/run.ts'
import { longTest, TAKES_ALL } from '../../support/takes-all.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

/**
 * Compose file of a server. Port 7000 sends back what it receives, and survives connections that are cut; port 9 is
 * refused. The published port differs from that of the container. Port 7080 is for the health check: running a command
 * in the container would cost more than the rest of the tests.
 */
const COMPOSE = `services:
  echo:
    image: node:22-alpine
    command: ["node", "-e", "require('net').createServer(s => s.on('error', () => {}).pipe(s)).listen(7000); require('http').createServer((_, a) => a.end()).listen(7080)"]
    ports: ["7001:7000"]
    stop_grace_period: 1s
    healthcheck: {http: {path: /, port: 7080}, interval: 1s, retries: 100}
`

describe.skipIf(cluster === undefined)('devctl forward', () => {
  const namespace = `forward-${process.pid}`
  const children: ChildProcess[] = []
  let folder = ''

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'devctl-forward-'))
    write(folder, { 'compose.yaml': COMPOSE })
    await cluster!.createNamespace(namespace)
    const { status, stderr } = await run(['deploy', '--wait', '--namespace', namespace, '--name', 'app'], {
      cwd: folder,
      env: { KUBECONFIG: process.env.KUBECONFIG! },
    })
    expect(status, stderr).toBe(0)
  })
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
    await cluster?.deleteNamespace(namespace)
    cluster?.close()
  })

  /** Starts the built program and waits for the ports that it prints. */
  async function forward(...ports: readonly string[]) {
    const wanted = ports.filter(one => one.startsWith(':')).length
    const words = [join(root, 'bin/devctl.cjs'), 'forward', 'echo', ...ports, '--namespace', namespace, '--name', 'app']
    const child = spawn(process.execPath, words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    children.push(child)
    let said = ''
    child.stderr!.on('data', part => {
      said += part
    })
    const local: number[] = []
    const late = setTimeout(() => child.kill(), 60_000)
    for await (const line of createInterface({ input: child.stdout! })) {
      local.push(Number(/:(\d+) → echo:\d+$/.exec(line)![1]))
      if (local.length === wanted) break
    }
    clearTimeout(late)
    expect(local, said).toHaveLength(wanted)
    return { local, said: () => said, child }
  }

  test.skipIf(process.platform !== 'linux')(
    'forward listens on another loopback address with `--address`',
    async () => {
      const { local, child } = await forward('--address', '127.0.0.2', ':7001')
      const bytes = randomBytes(1000)
      expect(await echo(local[0]!, bytes, '127.0.0.2')).toBe(hash(bytes))
      await expect(echo(local[0]!, bytes, '127.0.0.1')).rejects.toThrow('ECONNREFUSED')
      child.kill()
    },
  )

  test('forward carries many connections both ways, to published and container ports', async () => {
    const { local } = await forward(':7001', ':7000')
    const sent = Array.from({ length: TAKES_ALL ? 6 : 3 }, (_, index) => randomBytes(3_000_000 + index))
    const got = await Promise.all(sent.map((bytes, index) => echo(local[index % 2]!, bytes)))
    expect(got).toEqual(sent.map(hash))
  })

  longTest('forward holds back a side that is faster than the other', async () => {
    const { local, child } = await forward(':7000')
    const socket = connect(local[0]!, '127.0.0.1')
    await once(socket, 'connect')
    socket.pause()
    let written = 0
    // The test reads nothing, so writing has to stop long before the 400 MB are sent.
    while (written < 400e6) {
      if (!socket.write(Buffer.alloc(1 << 20))) {
        const more = await Promise.race([once(socket, 'drain'), new Promise(resolve => setTimeout(resolve, 2000))])
        if (more === undefined) break
      }
      written += 1 << 20
    }
    expect(written).toBeLessThan(200e6)
    socket.destroy()
    expect(child.exitCode).toBeNull()
  })

  test('forward continues with the next Pod after a deletion, and reports a refused port', async () => {
    const { local, said } = await forward(':7000', ':9')
    await echo(local[0]!, Buffer.from('before'))
    await cluster!.kubectl('--namespace', namespace, 'delete', 'pod', '--all', '--wait=true')
    const bytes = Buffer.from('after')
    await eventually('the next Pod answers', async () =>
      (await echo(local[0]!, bytes).catch(() => undefined)) === hash(bytes) ? true : undefined,
    )
    await echo(local[1]!, Buffer.from('x')).catch(() => undefined)
    await eventually(
      'the refusal is printed',
      async () => (/echo:9: nothing listens on port 9 in pod\/echo-/.test(said()) ? true : undefined),
      { explain: async () => said() },
    )
  })

  test('forward ends at Ctrl-C and frees the port', async () => {
    const { local, child } = await forward(':7000')
    const exited = once(child, 'exit')
    child.kill('SIGINT')
    expect((await exited)[0]).toBe(130)
    await expect(echo(local[0]!, Buffer.from('x'))).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('forward reports a service that does not exist, and a service without a Pod', async () => {
    const devctl = (...words: string[]) =>
      run(['forward', ...words, '--namespace', namespace], {
        cwd: folder,
        env: { KUBECONFIG: process.env.KUBECONFIG! },
      })
    expect(await devctl('ehco', '7000', '--name', 'app')).toMatchObject({
      status: 1,
      stderr: 'error: service `ehco` does not exist\n  = help: did you mean `echo`?\n',
    })
    expect(await devctl('echo', '7000', '--name', 'other')).toMatchObject({
      status: 1,
      stderr: `error: other is not deployed in ${namespace}\n  = help: \`devctl deploy\` deploys it\n`,
    })
  })
})

const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/**
 * Sends the bytes and returns the hash of as many that come back; rejects if the connection ends before, or after 90 s.
 */
async function echo(port: number, bytes: Buffer, host = '127.0.0.1'): Promise<string> {
  const socket = connect(port, host)
  const timer = setTimeout(() => socket.destroy(new Error('no echo in 90 s')), 90_000)
  try {
    socket.write(bytes)
    const parts: Buffer[] = []
    let length = 0
    for await (const part of socket) {
      parts.push(part)
      length += part.length
      if (length >= bytes.length) return hash(Buffer.concat(parts))
    }
    throw new Error(`the connection ended after ${length} bytes`)
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}
