import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, statSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import ssh2 from 'ssh2'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { connectAgent } from '../../../adapters/ssh/agent-client.ts'
import { join as connectStreams } from '../../../adapters/ssh/join.ts'
import type { KeyServer } from '../../../adapters/ssh/key-server.ts'
import { createSshKeyPair } from '../../../adapters/ssh/keys.ts'
import { startSshServer } from '../../../agent/ssh-server.ts'

const host = createSshKeyPair('host')
const user = createSshKeyPair('user')

describe('the SSH server of the agent', () => {
  const shared = join(mkdtempSync(join(tmpdir(), 'devctl-shared-')), 'shared')
  let server: KeyServer
  beforeAll(async () => {
    server = await startSshServer({ sshPort: 0, shared, hostKey: host.privateKey, userKey: user.publicKey })
  })
  afterAll(() => server.close())

  /** Connects as the laptop does; the socket is what a test cuts. */
  async function open(keys = { hostKey: host.publicKey, userKey: user.privateKey }) {
    const socket = connect({ port: server.port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    const agent = await connectAgent(socket, keys)
    onTestFinished(() => agent.close())
    return { agent, socket }
  }

  test('the agent connects to a port, and forwards bytes and ends in both directions', async () => {
    const { agent } = await open()
    const port = await listen(socket => socket.pipe(socket))
    const bytes = randomBytes(5_000_000)
    const channel = await agent.connect('127.0.0.1', port)
    channel.end(bytes)
    expect(hash(await buffer(channel))).toBe(hash(bytes))
  })

  test('a server may end its side first, and still read', async () => {
    const { agent } = await open()
    const got: Promise<Buffer>[] = []
    const port = await listen(socket => {
      got.push(buffer(socket))
      socket.end('done')
    })
    const channel = await agent.connect('127.0.0.1', port)
    // A loop would destroy the stream at its end.
    expect(String((await once(channel, 'data'))[0])).toBe('done')
    await once(channel, 'end')
    channel.end(Buffer.alloc(3_000_000, 1))
    expect((await got[0])?.length).toBe(3_000_000)
  })

  test('a channel holds back a side that is faster than the other', async () => {
    const { agent } = await open()
    const sockets: Socket[] = []
    const port = await listen(socket => sockets.push(socket.pause()))
    const channel = await agent.connect('127.0.0.1', port)
    let written = 0
    while (written < 200e6) {
      written += 1 << 20
      if (channel.write(Buffer.alloc(1 << 20))) continue
      const late = new Promise(resolve => setTimeout(() => resolve('late'), 500))
      if ((await Promise.race([once(channel, 'drain'), late])) === 'late') break
    }
    expect(written).toBeLessThan(50e6)
  })

  test('`localhost` includes a server that listens on IPv6 only', async () => {
    const { agent } = await open()
    const six = await listen(socket => socket.end('six'), '::1').catch(() => undefined)
    if (six === undefined) return
    expect(await text(await agent.connect('localhost', six))).toBe('six')
  })

  test('a socket is for its user alone, and exists until the client closes it or disconnects', async () => {
    const { agent, socket } = await open()
    const port = await listen(one => one.end('here'))
    const answer = async () => connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    const listener = await agent.listenSocket('one.sock', answer)
    await agent.listenSocket('two.sock', answer)
    const path = join(shared, 'one.sock')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(await text(connect(path))).toBe('here')
    listener.close()
    await expect.poll(() => readdirSync(shared)).toEqual(['two.sock'])
    socket.destroy()
    await expect.poll(() => readdirSync(shared)).toEqual([])
  })

  test('the agent listens on no socket outside its folder', async () => {
    const { agent } = await open()
    for (const name of ['../one.sock', '/tmp/one.sock', 'a/one.sock', ''])
      await expect(agent.listenSocket(name, async () => undefined)).rejects.toMatchObject({ failure: 'busy' })
  })

  test('a connection to a port with no listener is refused', async () => {
    const { agent } = await open()
    await expect(agent.connect('127.0.0.1', 1)).rejects.toMatchObject({
      failure: 'refused',
      message: 'nothing listens on 127.0.0.1:1 in the Pod',
    })
    await expect(agent.connect('no-such-name.invalid', 80)).rejects.toMatchObject({ failure: 'refused' })
  })

  test('the agent listens for the laptop until that is canceled', async () => {
    const { agent } = await open()
    const local = await listen(socket => socket.end('laptop'))
    const dial = async () => connect({ port: local, host: '127.0.0.1', allowHalfOpen: true })
    const listener = await agent.listen('127.0.0.1', 0, dial)
    expect(await ask(listener.port)).toBe('laptop')
    listener.close()
    await expect.poll(() => ask(listener.port).catch(error => error.code)).toBe('ECONNREFUSED')
  })

  test('a laptop that refuses resets the connection', async () => {
    const { agent } = await open()
    const listener = await agent.listen('127.0.0.1', 0, async () => undefined)
    await expect(ask(listener.port)).rejects.toMatchObject({ code: 'ECONNRESET' })
  })

  test('a port in use is refused, but not to the same laptop with a new connection', async () => {
    const { agent } = await open()
    const taken = await listen(() => {})
    await expect(agent.listen('127.0.0.1', taken, async () => undefined)).rejects.toMatchObject({
      failure: 'busy',
      message: `port ${taken} of the Pod is in use`,
    })
    const { port } = await agent.listen('127.0.0.1', 0, async () => undefined)
    const { agent: next } = await open()
    const local = await listen(socket => socket.end('next'))
    await next.listen('127.0.0.1', port, async () => connect(local, '127.0.0.1'))
    expect(await ask(port)).toBe('next')
    agent.close()
    expect(await ask(port)).toBe('next')
  })

  test('a lost connection breaks everything that uses it, on both ends', async () => {
    const { agent, socket } = await open()
    const ends: Promise<unknown>[] = []
    const port = await listen(peer => ends.push(once(peer.resume(), 'close').catch(error => error)))
    const channel = await agent.connect('127.0.0.1', port)
    await expect.poll(() => ends.length).toBe(1)
    const { port: listening } = await agent.listen('127.0.0.1', 0, async () => undefined)
    const broken = once(channel, 'end').catch(error => error)
    socket.destroy()
    expect(await broken).toMatchObject({ failure: 'lost' })
    expect(await agent.ended).toMatchObject({ failure: 'lost' })
    expect(await ends[0]).toMatchObject({ code: 'ECONNRESET' })
    await expect.poll(() => ask(listening).catch(error => error.code)).toBe('ECONNREFUSED')
    await expect(agent.connect('127.0.0.1', port)).rejects.toMatchObject({ failure: 'lost' })
    await expect(agent.listen('127.0.0.1', 0, async () => undefined)).rejects.toMatchObject({ failure: 'lost' })
  })

  test('a local client sees a broken connection, not an end', async () => {
    const { agent, socket } = await open()
    const port = await listen(peer => peer.write('part'))
    const front = await listen(async local => connectStreams(local, await agent.connect('127.0.0.1', port)))
    const client = connect(front, '127.0.0.1')
    await once(client, 'data')
    socket.destroy()
    await expect(once(client, 'end')).rejects.toMatchObject({ code: 'ECONNRESET' })
  })

  test('the server accepts no other user, and the client no other host key', async () => {
    const other = createSshKeyPair('other')
    await expect(open({ hostKey: host.publicKey, userKey: other.privateKey })).rejects.toMatchObject({
      failure: 'lost',
      message: /authentication/,
    })
    await expect(open({ hostKey: other.publicKey, userKey: user.privateKey })).rejects.toMatchObject({
      failure: 'lost',
      message: /[Hh]ost/,
    })
    for (const login of [{ password: 'devctl' }, {}])
      await expect(rawClient(login)).rejects.toThrow(/authentication methods failed/)
  })

  test('the server runs no command, shell or SFTP', async () => {
    const client = await rawClient({ privateKey: user.privateKey })
    await expect(new Promise((_, reject) => client.exec('id', reject))).rejects.toThrow(/open failure/)
    await expect(new Promise((_, reject) => client.shell(reject))).rejects.toThrow(/open failure/)
    await expect(new Promise((_, reject) => client.sftp(reject))).rejects.toThrow(/open failure/)
  })

  function rawClient(login: ssh2.ConnectConfig): Promise<ssh2.Client> {
    const client = new ssh2.Client()
    onTestFinished(() => void client.end())
    return new Promise((resolve, reject) => {
      client.once('ready', () => resolve(client)).once('error', reject)
      client.connect({ host: '127.0.0.1', port: server.port, username: 'devctl', ...login })
    })
  }
})

test('connectAgent fails if the connection ends before an answer', async () => {
  const port = await listen(() => {})
  const socket = connect(port, '127.0.0.1')
  const lost = connectAgent(socket, { hostKey: host.publicKey, userKey: user.privateKey })
  setTimeout(() => socket.destroy(), 100)
  await expect(lost).rejects.toMatchObject({ failure: 'lost' })
})

const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** Starts a server for one test, and returns its port. */
async function listen(take: (socket: Socket) => unknown, address = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>()
  const server: Server = createServer({ allowHalfOpen: true }, socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    take(socket)
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  server.listen(0, address)
  await once(server, 'listening')
  const found = server.address()
  return typeof found === 'object' && found ? found.port : 0
}

/** Returns the text that a port sends. */
async function ask(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  return text(socket)
}
