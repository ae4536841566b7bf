import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'ssh2'
import { expect, onTestFinished, test } from 'vitest'
import { createSshKeyPair } from '../../../../adapters/ssh/keys.ts'
import type { AgentLink } from '../../../../develop/ports/agent-link.ts'
import type { FrontContainer } from '../../../../develop/ssh/container.ts'
import { startSshFront } from '../../../../develop/ssh/front.ts'

const [HOST, USER] = [createSshKeyPair('host'), createSshKeyPair('user')]

/** Connects a client whose container is connected only when `connect` is called; records what listens in the Pod. */
async function connected() {
  const listening = new Set<number>()
  let connect: (agent: unknown) => void = () => {}
  const agent = new Promise(resolve => {
    connect = resolve
  })
  const listen = async (_: string, port: number) => {
    listening.add(port)
    return { port, close: () => void listening.delete(port) }
  }
  const front = await startSshFront({
    port: 0,
    hostKey: HOST.privateKey,
    userKey: USER.publicKey,
    container: { tool: '/x' } as unknown as FrontContainer,
    link: { current: () => agent, onConnected: () => () => {} } as unknown as AgentLink,
  })
  onTestFinished(() => front.close())
  const client = new Client()
  client.on('error', () => {})
  client.connect({ host: '127.0.0.1', port: front.port, username: 'devctl', privateKey: USER.privateKey })
  await once(client, 'ready')
  onTestFinished(() => void client.end())
  const forwarded = new Promise<Error | undefined>(resolve => client.forwardIn('localhost', 3000, resolve))
  // The front has received the request before the next message.
  await sleep(50)
  return { client, listening, forwarded, connect: () => connect({ listen }) }
}

test('a port of the Pod is forwarded until the client cancels it', async () => {
  const { client, listening, forwarded, connect } = await connected()
  connect()
  expect(await forwarded).toBeUndefined()
  expect([...listening]).toEqual([3000])
  await new Promise(resolve => client.unforwardIn('localhost', 3000, resolve))
  expect([...listening]).toEqual([])
})

test('no port of the Pod stays open for a client that has gone before the container was connected', async () => {
  const { client, listening, connect } = await connected()
  client.end()
  await once(client, 'close')
  await sleep(50)
  connect()
  await sleep(50)
  expect([...listening]).toEqual([])
})

test('no port of the Pod stays open that was cancelled before the container was connected', async () => {
  const { client, listening, connect } = await connected()
  const cancelled = new Promise(resolve => client.unforwardIn('localhost', 3000, resolve))
  await sleep(50)
  connect()
  await cancelled
  await sleep(50)
  expect([...listening]).toEqual([])
})
