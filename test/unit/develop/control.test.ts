import { mkdtempSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { askSession, endSession } from '../../../develop/control/client.ts'
import { serveControl } from '../../../develop/control/server.ts'

const listening = (handle: (socket: Socket) => void): Promise<{ server: Server; address: string }> => {
  const address = join(mkdtempSync(join(tmpdir(), 'control-')), 'up.sock')
  const server = createServer({ pauseOnConnect: true }, handle)
  return new Promise(resolve => server.listen(address, () => resolve({ server, address })))
}

test('askSession returns undefined when the session ends before it accepts the connection', async () => {
  const { server, address } = await listening(() => {})
  const [asked, ended] = [askSession(address, { ask: 'report' }), endSession(address)]
  server.close()
  expect(await asked).toBeUndefined()
  await ended
})

test.each(['unread', 'half answered', 'ended'])('askSession has no answer if the question is %s', async how => {
  const { server, address } = await listening(socket => {
    socket.on('error', () => {})
    if (how === 'unread') setTimeout(() => socket.destroy(), 50)
    else if (how === 'ended') socket.end()
    else socket.write('{"ok"', () => socket.destroy())
  })
  expect(await askSession(address, { ask: 'report' })).toBeUndefined()
  server.close()
})

/** Asks a session whose handler fails; `over` is the signal of the session. */
async function askFailing(over: AbortSignal) {
  const address = join(mkdtempSync(join(tmpdir(), 'control-')), 'up.sock')
  const fail = () => Promise.reject(new Error('forbidden'))
  const server = await serveControl(address, fail, over)
  const answer = await askSession(address, { ask: 'restart' })
  await server.close()
  return answer
}

test('askSession receives any error of a running session as its answer', async () => {
  expect(await askFailing(new AbortController().signal)).toEqual({ ok: false, message: 'forbidden' })
})

test('askSession has no answer if the session fails because it ends', async () => {
  expect(await askFailing(AbortSignal.abort(new Error('ended')))).toBeUndefined()
})
