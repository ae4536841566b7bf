import { mkdtempSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { askSession, endSession } from '../../../develop/control/client.ts'

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
