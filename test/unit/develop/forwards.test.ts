import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { connectAgent } from '../../../adapters/ssh/agent-client.ts'
import type { KeyServer } from '../../../adapters/ssh/key-server.ts'
import { createSshKeyPair } from '../../../adapters/ssh/keys.ts'
import { startSshServer } from '../../../agent/ssh-server.ts'
import { AgentLink } from '../../../develop/ports/agent-link.ts'
import { type ForwardEvent, forwardText } from '../../../develop/ports/events.ts'
import type { LocalForward } from '../../../develop/ports/local-forward.ts'
import { type ForwardsInput, openForwards } from '../../../develop/ports/open-forwards.ts'

const host = createSshKeyPair('host')
const user = createSshKeyPair('user')
const keys = { hostKey: host.publicKey, userKey: user.privateKey }

describe('the forwards of a session', () => {
  let agent: KeyServer
  beforeAll(async () => {
    agent = await startSshServer({ sshPort: 0, hostKey: host.privateKey, userKey: user.publicKey })
  })
  afterAll(() => agent.close())

  /** Opens forwards with an agent on this machine; `attach` connects it, `cut` breaks the connection. */
  async function open(input: Partial<Omit<ForwardsInput, 'link'>>) {
    const link = new AgentLink()
    const events: ForwardEvent[] = []
    const forwards = await openForwards({ forwards: [], reverse: [], address: '127.0.0.1', link, ...input }, event =>
      events.push(event),
    )
    const control = new AbortController()
    const sockets: Socket[] = []
    onTestFinished(() => {
      control.abort()
      forwards.close()
    })
    const attach = () =>
      void link.keep(async () => {
        const socket = connect(agent.port, '127.0.0.1')
        sockets.push(socket)
        await once(socket, 'connect')
        return connectAgent(socket, keys)
      }, control.signal)
    return { forwards, events, attach, cut: () => sockets.at(-1)?.destroy() }
  }

  const toContainer = (remotePort: number, more: Partial<LocalForward> = {}): LocalForward => ({
    localPort: 0,
    remotePort,
    whenBusy: 'move',
    ...more,
  })
  const portIn = (address: string) => Number(address.split(':').at(-1))

  test('forwards lead to the container, and to Services by their names in the Pod', async () => {
    const { port } = await serve(socket => socket.end('it'))
    const found = async () => '127.0.0.1'
    const { forwards, attach } = await open({
      forwards: [
        toContainer(port, { findService: found, label: 'app=web' }),
        toContainer(port, { service: 'localhost' }),
        toContainer(port),
      ],
    })
    attach()
    expect(forwards.forwards.map(({ remote }) => remote)).toEqual([
      String(port),
      `app=web:${port}`,
      `localhost:${port}`,
    ])
    for (const { local } of forwards.forwards) expect(await ask(portIn(local))).toBe('it')
  })

  test('clients wait while the container is not connected, at first and after a cut', async () => {
    const { port } = await serve(socket => socket.end('it'))
    const { forwards, attach, cut } = await open({ forwards: [toContainer(port)] })
    const local = portIn(forwards.forwards[0]!.local)
    const early = ask(local)
    attach()
    expect(await early).toBe('it')
    cut()
    expect(await ask(local)).toBe('it')
  })

  test('a failure that repeats is reported once', async () => {
    const target = await serve(socket => socket.end('it'))
    target.server.close()
    const { forwards, events, attach } = await open({ forwards: [toContainer(target.port)] })
    const { local } = forwards.forwards[0]!
    attach()
    for (let times = 0; times < 3; times++)
      await expect(ask(portIn(local))).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(events.map(forwardText)).toEqual([
      `${local} → ${target.port}: nothing listens on localhost:${target.port} in the Pod`,
    ])
  })

  test('a program that restarts is not reported, unless it stays down', async () => {
    const first = await serve(socket => socket.end('it'))
    const { port } = first
    const { forwards, events, attach } = await open({ forwards: [toContainer(port, { restart: 300 })] })
    const { local } = forwards.forwards[0]!
    attach()
    expect(await ask(portIn(local))).toBe('it')
    const stop = ({ server }: { readonly server: Server }) => new Promise(resolve => server.close(resolve))
    for (let times = 0; times < 3; times++) {
      await stop(first)
      await expect(ask(portIn(local))).rejects.toMatchObject({ code: 'ECONNRESET' })
      await once(first.server.listen(port, '127.0.0.1'), 'listening')
      await pause(400)
      expect(await ask(portIn(local))).toBe('it')
    }
    expect(events).toEqual([])
    await stop(first)
    await expect(ask(portIn(local))).rejects.toMatchObject({ code: 'ECONNRESET' })
    await expect
      .poll(() => events.map(forwardText), { timeout: 5000 })
      .toEqual([`${local} → ${port}: nothing listens on localhost:${port} in the Pod`])
  })

  test('a label that no Service has is reported', async () => {
    const { forwards, events, attach } = await open({
      forwards: [toContainer(80, { findService: async () => undefined, label: 'app=none' })],
    })
    const { local } = forwards.forwards[0]!
    attach()
    await expect(ask(portIn(local))).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(events.map(forwardText)).toEqual([`${local} → app=none:80: no Service has the labels app=none`])
  })

  test('a port in use is reported with its owner, and the next free port is used', async () => {
    const { port: taken } = await serve(() => {})
    const { port } = await serve(socket => socket.end('it'))
    const { forwards, events, attach } = await open({ forwards: [toContainer(port, { localPort: taken })] })
    const { local } = forwards.forwards[0]!
    expect(portIn(local)).toBeGreaterThan(taken)
    const owner =
      process.platform === 'linux' ? new RegExp(`, \`.+\` \\(process ${process.pid}\\) listens on it`) : /in use/
    expect(events.map(forwardText)).toEqual([expect.stringMatching(owner)])
    expect(forwardText(events[0]!)).toMatch(new RegExp(`: ${local} leads to ${port} instead$`))
    attach()
    expect(await ask(portIn(local))).toBe('it')
  })

  test('a port of another session of the project is used as soon as it is free', async () => {
    const other = await serve(socket => socket.end('other'))
    const { port } = await serve(socket => socket.end('it'))
    const { events, attach } = await open({
      forwards: [toContainer(port, { localPort: other.port, service: 'localhost', whenBusy: 'wait' })],
    })
    attach()
    expect(events.map(({ kind }) => kind)).toEqual(['waiting'])
    expect(await ask(other.port)).toBe('other')
    other.server.close()
    await expect.poll(() => ask(other.port).catch(() => ''), { timeout: 5000 }).toBe('it')
  })

  test('an unavailable local address is an error, and leaves no port open', async () => {
    const free = await serve(() => {})
    free.server.close()
    const forwards = [toContainer(1, { localPort: free.port }), toContainer(2)]
    await expect(open({ forwards, address: '192.0.2.1' })).rejects.toThrow(/cannot listen on 192\.0\.2\.1/)
    await expect(ask(free.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('forwards.close stops the forwards', async () => {
    const { port } = await serve(socket => socket.end('it'))
    const { forwards, attach } = await open({ forwards: [toContainer(port)] })
    attach()
    const local = portIn(forwards.forwards[0]!.local)
    expect(await ask(local)).toBe('it')
    forwards.close()
    await expect(ask(local)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('ports of the Pod lead to this machine, again after a cut, until the forwards are closed', async () => {
    const here = await serve(socket => socket.end('laptop'))
    const remote = await freePort()
    const { forwards, attach, cut } = await open({ reverse: [{ remotePort: remote, localPort: here.port }] })
    expect(forwards.reverse).toEqual([{ remote: String(remote), local: `127.0.0.1:${here.port}` }])
    attach()
    const asks = () => ask(remote).catch(error => error.code)
    await expect.poll(asks).toBe('laptop')
    cut()
    await expect.poll(asks, { timeout: 5000 }).toBe('laptop')
    forwards.close()
    await expect.poll(asks).toBe('ECONNREFUSED')
  })

  test('a reverse forward reports once that nothing listens on this machine', async () => {
    const [remotePort, localPort] = [await freePort(), await freePort()]
    const { events, attach } = await open({ reverse: [{ remotePort, localPort }] })
    attach()
    await expect.poll(() => ask(remotePort).catch(error => error.code)).toBe('ECONNRESET')
    await expect(ask(remotePort)).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(events.map(forwardText)).toEqual([
      `port ${remotePort} of the container → 127.0.0.1:${localPort}: nothing listens there`,
    ])
  })

  test('a reverse forward reports that its port of the Pod is in use', async () => {
    const taken = await serve(() => {})
    const { events, attach } = await open({ reverse: [{ remotePort: taken.port, localPort: 1 }] })
    attach()
    await expect
      .poll(() => events.map(forwardText))
      .toEqual([`port ${taken.port} of the container does not lead here: port ${taken.port} of the Pod is in use`])
  })
})

/** Starts a server that ends with the test. */
async function serve(take: (socket: Socket) => unknown): Promise<{ readonly port: number; readonly server: Server }> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    take(socket)
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const found = server.address()
  return { port: typeof found === 'object' && found ? found.port : 0, server }
}

async function freePort(): Promise<number> {
  const { port, server } = await serve(() => {})
  server.close()
  await once(server, 'close')
  return port
}

/** Returns the text that a port sends. */
const ask = (port: number): Promise<string> => text(connect(port, '127.0.0.1'))
