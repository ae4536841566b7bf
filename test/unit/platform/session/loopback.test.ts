import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { browserCommand } from '../../../../adapters/process/browser.ts'
import { listenForBrowser } from '../../../../platform/session/loopback.ts'

/** A login that waits, and what other programs of this machine can send to it. */
async function waiting() {
  const login = await listenForBrowser('https://platform.example.com', 'ann@laptop')
  onTestFinished(() => login.close())
  const page = new URL(login.page)
  const [port, state] = [Number(page.searchParams.get('port')), page.searchParams.get('state')!]
  const send = async (path: string, { method = 'GET', host = `127.0.0.1:${port}` } = {}) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers: { host } }).end()
    const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) =>
      sent.on('response', resolve).on('error', reject),
    )
    return { status: response.statusCode, headers: response.headers, body: await text(response) }
  }
  return { ...login, page, port, state, send }
}

test('the login page gets the port, the state and the challenge, but not the verifier', async () => {
  const { page, verifier } = await waiting()
  expect(page.origin + page.pathname).toBe('https://platform.example.com/cli')
  expect([...page.searchParams.keys()]).toEqual(['port', 'state', 'challenge', 'label'])
  expect(page.href).not.toContain(verifier)
})

test('wrong requests to the port are refused, and the right one still counts', async () => {
  const { send, state, code, port } = await waiting()
  const statuses = [
    await send('/?code=evil&state=wrong'),
    await send('/?code=evil'),
    await send(`/?code=evil&state=${state}`, { host: `evil.example:${port}` }),
    await send(`/?code=evil&state=${state}`, { method: 'POST' }),
    await send(`/x?code=evil&state=${state}`),
    await send('//'),
  ].map(({ status }) => status)
  expect(statuses).toEqual([400, 400, 404, 404, 404, 404])
  expect((await send(`/?code=good&state=${state}`)).status).toBe(200)
  expect(await code).toBe('good')
})

test('a second response is refused, and the first one counts', async () => {
  const { send, state, code } = await waiting()
  await send(`/?code=good&state=${state}`)
  expect((await send(`/?code=evil&state=${state}`)).status).toBe(410)
  expect(await code).toBe('good')
})

test('the response asks to go back to the terminal, and contains nothing of the request', async () => {
  const { send, state } = await waiting()
  const { body, headers } = await send(`/?code=good&state=${state}&label=%3Cscript%3E`)
  expect(body).toContain('Go back to the terminal')
  expect(body).not.toMatch(/good|script/)
  expect(headers).toMatchObject({
    'content-security-policy': expect.stringContaining("default-src 'none'"),
    'cache-control': 'no-store',
  })
})

test('a login that is refused in the browser fails', async () => {
  const { send, state, code } = await waiting()
  await send(`/?error=refused&state=${state}`)
  await expect(code).rejects.toThrow('refused in the browser')
})

test('the port accepts no request after the login is closed', async () => {
  const { send, close, state } = await waiting()
  close()
  await expect(send(`/?code=late&state=${state}`)).rejects.toThrow()
})

test.each<readonly [string, Readonly<Record<string, string>>, readonly string[] | undefined]>([
  ['linux', { DISPLAY: ':0' }, ['xdg-open']],
  ['linux', { WAYLAND_DISPLAY: 'w' }, ['xdg-open']],
  ['linux', { WSL_DISTRO_NAME: 'Debian' }, ['wslview']],
  ['linux', {}, undefined],
  ['linux', { BROWSER: 'firefox:lynx' }, ['firefox']],
  ['linux', { DISPLAY: ':0', SSH_CONNECTION: 'x' }, undefined],
  ['darwin', {}, ['open']],
  ['darwin', { SSH_TTY: '/dev/pts/1' }, undefined],
  ['darwin', { CI: 'true' }, undefined],
  ['win32', {}, ['rundll32', 'url.dll,FileProtocolHandler']],
])('browserCommand for %s with %j returns %j', (system, env, command) => {
  expect(browserCommand(env, system)).toEqual(command)
})
