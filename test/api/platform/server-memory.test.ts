import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { type ChangeList, withChangeList } from '../../../environment/record/change-lists.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { askServer, makeServer, type ServerProcess, startServer } from '../../support/platform/server-process.ts'
import { longTest } from '../../support/takes-all.ts'

/** Memory limit of the Pod of a server, in MiB. */
const LIMIT = 256
/** Milliseconds for a test: it creates objects of 100 MiB. */
const LONG = 300_000
/** Milliseconds for which the memory is measured after the work. */
const AFTERWARDS = 3_000
/** A text of a megabyte. Its last letter makes Node.js use two bytes for each letter. */
const LARGE = `${'x'.repeat(900_000)}ж`

// The server runs in a separate process, as an installed one does.
describe.skipIf(!process.env.KUBECONFIG)('memory of the server', () => {
  let platform: TestPlatform
  let folder: string
  let server: ServerProcess
  beforeAll(async () => {
    platform = await openPlatform()
  })
  afterAll(() => platform?.close())
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'devctl-memory-'))
    await makeServer(folder, platform)
    server = await startServer(folder)
  })
  afterEach(() => {
    server?.process.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  })

  const person = async (login: string): Promise<Person> => {
    const [found] = await platform.people(login)
    return found!
  }
  const tokensOf = async ({ token }: Person, count: number): Promise<readonly string[]> => {
    const tokens: string[] = []
    for (let index = 0; index < count; index++) {
      const { body } = await platform.call('POST /me/tokens', { token, body: { label: `t${index}` } })
      tokens.push(body.token)
    }
    return tokens
  }
  /** Sends requests until the server answers one: it refuses a request for which the API server takes too long. */
  const statusOf = (path: string, { token }: Person): Promise<number> =>
    eventually(`an answer for ${path}`, async () => {
      const { status } = await askServer(server, path, { token })
      return status === 503 ? undefined : status
    })
  const create = async (objects: readonly KubeObject[]) => {
    for (let at = 0; at < objects.length; at += 20)
      await Promise.all(objects.slice(at, at + 20).map(one => platform.cluster.create(one)))
  }
  const memory = (): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.process.pid}/status`, 'utf8'))![1]) / 1024
  /** Runs a function, and returns the largest memory in MiB until some seconds later. */
  const mostDuring = async (work: () => Promise<void>): Promise<number> => {
    let most = 0
    const sampling = setInterval(() => {
      if (server.process.exitCode === null) most = Math.max(most, memory())
    }, 50)
    try {
      await work()
      await pause(AFTERWARDS)
    } finally {
      clearInterval(sampling)
    }
    expect(server.process.exitCode).toBeNull()
    return most
  }

  const record = (namespace: string, environment: string, more: object): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `devctl-${environment}`, namespace, labels: { 'dev.platform/environment': environment } },
    ...more,
  })

  test('memory stays low while the server unpacks many small records', { timeout: LONG }, async () => {
    const owner = await person('recorder')
    const values = Array.from({ length: 5000 }, () => ({ path: '' }))
    const changes = Array.from({ length: 17 }, () => ({ action: 'create', object: '', values }))
    const text = JSON.stringify([{ number: 1, by: '', at: '', changes }])
    const history = gzipSync(text, { level: 9 }).toString('base64')
    const names = Array.from({ length: 120 }, (_, index) => `e${index}`)
    await create(names.map(name => record(owner.home, name, { binaryData: { history } })))
    const path = `/namespaces/${owner.home}/environments`
    const most = await mostDuring(async () => {
      expect(await statusOf(path, owner)).toBe(200)
      const histories = names.slice(0, 20).map(name => statusOf(`${path}/${name}/history`, owner))
      expect(await Promise.all(histories)).toEqual(histories.map(() => 200))
    })
    expect(most).toBeLessThan(LIMIT)
  })

  longTest('memory stays low while a user searches many times in namespaces with large objects', async () => {
    const owner = await person('searcher')
    const namespaces = [owner.home]
    for (let count = 0; count < 3; count++) {
      const name = `big${count}-${owner.home}`.slice(0, 40)
      const made = await platform.call('POST /namespaces', { token: owner.token, body: { name } })
      expect(made.status, made.error?.message).toBe(200)
      namespaces.push(name)
    }
    const numbers = Array.from({ length: 10 }, (_, index) => index)
    await create(namespaces.flatMap(one => numbers.map(number => record(one, `e${number}`, { data: { x: LARGE } }))))
    const tokens = await tokensOf(owner, 8)
    const most = await mostDuring(async () => {
      // A client on a slow machine gives up first.
      await Promise.allSettled(tokens.map(token => askServer(server, '/search', { token })))
    })
    expect(most).toBeLessThan(LIMIT)
  })

  test('memory stays low while a user follows the logs of a namespace with large Pods', { timeout: LONG }, async () => {
    const owner = await person('podder')
    const few = { cpu: '1m', memory: '1Mi', 'ephemeral-storage': '1Mi' }
    const limits = { memory: '1Mi', 'ephemeral-storage': '1Mi' }
    // The Pods wait for a node forever.
    const pods = Array.from({ length: 80 }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `p${index}`, namespace: owner.home },
      spec: {
        restartPolicy: 'Never',
        nodeSelector: { no: 'node' },
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'x', image: 'x', args: [LARGE], resources: { requests: few, limits } }],
      },
    }))
    await create(pods)
    const end = new AbortController()
    const most = await mostDuring(async () => {
      const { status } = await fetch(`http://127.0.0.1:${server.port}/api/v1/namespaces/${owner.home}/logs`, {
        headers: { authorization: `Bearer ${owner.token}` },
        signal: end.signal,
      })
      expect(status).toBe(200)
    })
    end.abort()
    expect(most).toBeLessThan(LIMIT)
  })

  longTest('memory stays low while clients that do not read follow a namespace that changes', async () => {
    const owner = await person('follower')
    const changed = (number: number): KubeObject => {
      const changes: ChangeList['changes'] = Array.from({ length: 200 }, (_, index) => ({
        action: 'update',
        object: `deployment/web-${index}`,
        values: Array.from({ length: 4 }, (_, value) => ({
          path: `p${number}-${value}`,
          before: 'x'.repeat(30),
          after: 'y'.repeat(30),
        })),
      }))
      let history: string | undefined
      for (let list = 0; list < 10; list++)
        history = withChangeList(history, { by: 'eve', at: '2026-01-01T00:00:00Z', changes })
      const services = Array.from({ length: 400 }, (_, index) => ({
        service: `s${index}`,
        kind: 'Deployment',
        image: `image-${number}-${'x'.repeat(200)}`,
      }))
      return record(owner.home, 'shop', {
        binaryData: { history },
        data: { application: JSON.stringify({ services }) },
      })
    }
    const apply = (number: number) => platform.cluster.apply(changed(number), { manager: 'eve', force: true })
    await apply(0)
    const sockets: Socket[] = []
    const most = await mostDuring(async () => {
      for (const token of await tokensOf(owner, 8)) {
        const socket = connect(server.port, '127.0.0.1')
        await new Promise<void>(done => socket.once('connect', () => done()))
        socket.pause()
        socket.write(
          `GET /api/v1/namespaces/${owner.home}/live HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n\r\n`,
        )
        sockets.push(socket)
      }
      for (let number = 1; number <= 60; number++) {
        await apply(number)
        // The server sees most of the changes one by one.
        await pause(200)
      }
    })
    for (const socket of sockets) socket.destroy()
    expect(most).toBeLessThan(LIMIT)
  })
})
