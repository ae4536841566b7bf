import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { listenLocally, type PortUnavailable } from '../../../../operations/forward/listen.ts'

/** Returns `open` or the code of the error of a connection. */
async function knock(host: string, port: number): Promise<string> {
  const socket = connect({ host, port })
  try {
    await once(socket, 'connect')
    return 'open'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? ''
  } finally {
    socket.destroy()
  }
}

test.skipIf(process.platform !== 'linux')('listenLocally listens on the given loopback address only', async () => {
  const found = await listenLocally('127.0.0.2', 0, socket => socket.end())
  onTestFinished(() => found.close())
  expect(await knock('127.0.0.2', found.port)).toBe('open')
  expect(await knock('127.0.0.1', found.port)).toBe('ECONNREFUSED')
  const other = await listenLocally('127.0.0.3', found.port, socket => socket.end())
  onTestFinished(() => other.close())
  expect(await knock('127.0.0.3', found.port)).toBe('open')
})

test('an address that this machine does not have is refused with a hint that names it', async () => {
  const failed: PortUnavailable = await listenLocally('192.0.2.77', 8080, () => {}).then(
    () => expect.unreachable(),
    error => error,
  )
  expect(failed).toMatchObject({
    reason: 'address',
    message: 'cannot listen on 192.0.2.77:8080: this machine does not have the address `192.0.2.77`',
  })
})

test('the error names an address of this machine instead of another port', async () => {
  const failed = await listenLocally('192.0.2.77', 8080, () => {}).catch((error: PortUnavailable) => error)
  const shown = await (failed as PortUnavailable).toUserError('use another port')
  expect(shown.hint).toMatch(/^use an address of this machine/)
})

test('an IPv6 address is shown in brackets', async () => {
  const failed: PortUnavailable = await listenLocally('2001:db8::77', 8080, () => {}).then(
    () => expect.unreachable(),
    error => error,
  )
  expect(failed.message).toContain('[2001:db8::77]:8080')
})
