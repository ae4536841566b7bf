import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'

const started = new Set<ChildProcess>()
afterEach(() => {
  for (const one of started) one.kill('SIGKILL')
  started.clear()
})

/** Starts the server of the pages. `prints` resolves with the first match in its output. */
function start(...words: readonly string[]) {
  const child = spawn(process.execPath, [join(root, 'scripts/dev-web.mjs'), ...words], { cwd: root, stdio: 'pipe' })
  started.add(child)
  let output = ''
  const ended = once(child, 'close').then(([status]) => ({ status, output }))
  for (const stream of [child.stdout, child.stderr]) stream.on('data', text => (output += text))
  const prints = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(output)
        if (found) resolve(found[0])
      }
      child.stdout.on('data', look)
      void ended.then(() => reject(new Error(`it has ended: ${output}`)))
      look()
    })
  return { child, ended, prints }
}

test('dev:web serves the pages with sample data until SIGINT', async () => {
  const { child, ended, prints } = start('--port', '0')
  const url = await prints(/http:\/\/127\.0\.0\.1:\d+/)
  const get = (path: string, headers = {}) => fetch(url + path, { headers })

  const page = await get('/namespaces/shop')
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const text = await page.text()
  expect(text).toContain('src="/dev/reload.js"')
  expect((await get('/dev/reload.js')).status).toBe(200)
  const [script = ''] = /\/assets\/main-\w+\.js/.exec(text) ?? []
  expect((await get(script)).headers.get('content-type')).toBe('text/javascript; charset=utf-8')

  expect(await (await get('/api/v1/me')).json()).toMatchObject({ login: 'ann', role: 'admin' })
  const live = await get('/api/v1/namespaces/shop/live')
  expect(live.headers.get('content-type')).toBe('text/event-stream')
  await live.body?.cancel()
  const unknown = await get('/api/v1/none')
  expect(unknown.status).toBe(404)
  expect(await unknown.json()).toMatchObject({ code: 'platform/no-route' })
  const without = await get('/api/v1/namespaces/shop/variables/effective')
  const message = 'there is no sample data for `GET /namespaces/:ns/variables/effective`'
  expect(await without.json()).toMatchObject({ code: 'platform/no-sample', message })

  child.kill('SIGINT')
  expect((await ended).status).toBe(0)
})

test('dev:web reports a port that is in use', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo // it listens at a port
  expect(await start('--port', String(port)).ended).toEqual({ status: 1, output: `port ${port} is in use\n` })
  other.close()
})

test('dev:web reports a wrong port', async () => {
  expect(await start('--port', 'http').ended).toMatchObject({ status: 2, output: expect.stringContaining('usage: ') })
})
