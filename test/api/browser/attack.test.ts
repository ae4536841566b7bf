import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RUN } from '../../support/platform/run-name.ts'
import { few, longTest } from '../../support/takes-all.ts'
import { NO_BROWSER, openBrowser, type Seen, type TestBrowser } from './open-browser.ts'

// A page of an application runs on a host of the same site as the platform, as a preview does: browsers send it the
// cookie of the session, whatever its SameSite says (design, section 14). Here it has another port of the same host,
// which is also another origin of the same site.

describe.skipIf(NO_BROWSER)('a page of an application', () => {
  let browser: TestBrowser
  let attacker: Server
  let [evil, user, home] = ['', '', '']
  beforeAll(async () => {
    browser = await openBrowser()
    const person = await browser.platform.person('ann', 'admin')
    user = person.id
    home = person.home
    attacker = createServer((_, answer) => {
      answer.setHeader('content-type', 'text/html')
      answer.end('<!doctype html><title>An application</title><body>')
    })
    await once(attacker.listen(0, '127.0.0.1'), 'listening')
    evil = `http://localhost:${(attacker.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    attacker?.close()
    await browser?.close()
  })

  interface Answered {
    readonly path: string
    readonly status: number
    readonly hasCookie: boolean
    readonly site: string | undefined
  }

  /** Opens the page of the application in a browser with a session, and records how the platform responds to it. */
  async function visit(): Promise<Seen & { readonly answers: Answered[] }> {
    const seen = await browser.open(user)
    const answers: Answered[] = []
    // Browsers do not report responses that they keep from a page.
    const listen = ({ url = '', headers }: IncomingMessage, answer: ServerResponse) =>
      answer.once('close', () => {
        const hasCookie = (headers.cookie ?? '').includes('__Host-devctl=')
        const site = headers['sec-fetch-site']
        if (url.startsWith('/api/') && site !== 'same-origin')
          answers.push({ path: url, status: answer.statusCode, hasCookie, site: String(site) })
      })
    browser.platform.app.server.on('request', listen)
    await seen.page.goto(evil)
    return {
      ...seen,
      answers,
      close: async () => {
        browser.platform.app.server.off('request', listen)
        await seen.close()
      },
    }
  }
  /** Checks that the session is unchanged, and that nothing was created with it. */
  async function expectNothing({ page }: Seen): Promise<void> {
    await page.goto(`${browser.url}/you`)
    await page.getByText('this session').first().waitFor()
    const { parts } = browser.platform
    expect((await parts.tokens.of(user)).filter(({ kind }) => kind === 'api')).toEqual([])
    expect((await browser.platform.parts.users.find(user))?.role).toBe('admin')
    const found = await browser.platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: `stolen-${RUN}` })
    expect(found).toBeUndefined()
  }

  test('a page reads nothing with the session of its visitor, though the cookie is sent', async () => {
    const seen = await visit()
    const paths = ['/me', '/namespaces', '/me/tokens', `/namespaces/${home}/variables/effective`]
    const read = await seen.page.evaluate(
      ([url, ...paths]) =>
        Promise.all(
          paths.flatMap(path =>
            (['cors', 'no-cors'] as const).map(mode =>
              fetch(`${url}/api/v1${path}`, { credentials: 'include', mode }).then(
                answer => answer.text(),
                () => '',
              ),
            ),
          ),
        ),
      [browser.url, ...paths],
    )
    expect(read.join('')).toBe('')
    // The cookie was sent, so the origin was refused.
    await expect.poll(() => seen.answers.length, { timeout: 60_000 }).toBe(2 * paths.length)
    for (const answer of seen.answers) expect(answer).toMatchObject({ status: 403, hasCookie: true, site: 'same-site' })
    await expectNothing(seen)
    await seen.close()
  })

  longTest('a page follows no stream, and opens no connection to a builder', async () => {
    const seen = await visit()
    const found = await seen.page.evaluate(
      async ([url = '', ns = '']) => {
        const streams = ['live', 'logs'].map(
          path =>
            new Promise<string>(resolve => {
              const source = new EventSource(`${url}/api/v1/namespaces/${ns}/${path}`, { withCredentials: true })
              source.onmessage = event => resolve(`read ${event.data}`)
              source.onerror = () => resolve('refused')
            }),
        )
        const socket = new Promise<string>(resolve => {
          const one = new WebSocket(`${url.replace('http', 'ws')}/api/v1/builders/connect?namespace=${ns}`)
          one.onopen = () => resolve('open')
          one.onerror = () => resolve('refused')
        })
        return Promise.all([...streams, socket])
      },
      [browser.url, home],
    )
    expect(found).toEqual(['refused', 'refused', 'refused'])
    const streams = () =>
      seen.answers
        .filter(({ path }) => path.includes('/namespaces/'))
        .map(({ status, hasCookie }) => [status, hasCookie])
    await expect.poll(streams, { timeout: 60_000 }).toEqual([
      [403, true],
      [403, true],
    ])
    await expectNothing(seen)
    await seen.close()
  })

  test('a page changes nothing by requests that browsers send without a preflight', async () => {
    const seen = await visit()
    const bodies: readonly (readonly [string, object])[] = [
      ['/namespaces', { name: `stolen-${RUN}` }],
      ['/me/tokens', { label: 'stolen' }],
      ['/auth/logout', {}],
      [`/namespaces/${home}/sleep`, {}],
    ]
    await seen.page.evaluate(
      ([url, bodies]) =>
        Promise.all(
          bodies.flatMap(([path, body]) =>
            (['text/plain', 'application/x-www-form-urlencoded'] as const).map(type =>
              fetch(`${url}/api/v1${path}`, {
                method: 'POST',
                credentials: 'include',
                mode: 'no-cors',
                headers: { 'content-type': type },
                body: JSON.stringify(body),
              }).catch(() => {}),
            ),
          ),
        ),
      [browser.url, bodies] as const,
    )
    await expect.poll(() => seen.answers.length, { timeout: 60_000 }).toBe(2 * bodies.length)
    for (const answer of seen.answers) expect(answer).toMatchObject({ status: 403, hasCookie: true, site: 'same-site' })
    // Sends JSON as the only field of a form, by a navigation.
    for (const [path, body] of few(bodies, 2)) {
      const page = await seen.page.context().newPage()
      await page.goto(evil)
      const [before, after] = JSON.stringify({ ...body, x: '=' }).split('=')
      const answered = page.waitForResponse(answer => answer.url() === `${browser.url}/api/v1${path}`)
      await page.evaluate(
        ([action = '', name = '', value = '']) => {
          const form = Object.assign(document.createElement('form'), { action, method: 'post', enctype: 'text/plain' })
          form.append(Object.assign(document.createElement('input'), { name, value }))
          document.body.append(form)
          form.submit()
        },
        [`${browser.url}/api/v1${path}`, before ?? '', after ?? ''],
      )
      expect((await answered).status()).toBe(403)
    }
    await expectNothing(seen)
    await seen.close()
  })

  test('a page neither frames the platform nor keeps a handle to its window', async () => {
    const seen = await visit()
    const { page } = seen
    await page.evaluate(url => {
      document.body.append(Object.assign(document.createElement('iframe'), { src: `${url}/you` }))
    }, browser.url)
    await expect
      .poll(() => seen.complaints.join('\n'), { timeout: 60_000 })
      .toMatch(/frame-ancestors|X-Frame-Options|Refused to display/)
    const [other] = await Promise.all([
      page.waitForEvent('popup'),
      page.evaluate(url => {
        Object.assign(globalThis, { other: open(`${url}/you`) })
      }, browser.url),
    ])
    await other.getByText('this session').first().waitFor()
    // The window is in a browsing context group of its own.
    expect(await other.evaluate(() => globalThis.opener === null)).toBe(true)
    expect(await page.evaluate(() => (globalThis as unknown as { other: Window }).other.closed)).toBe(true)
    await expectNothing(seen)
    await seen.close()
  })
})
