import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { eventually } from '../../support/cluster/cluster.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'

// Tests requests for hosts of applications that no route leads to: their responses, and what they wake.

const DOMAIN = 'dev.example.com'
const LOOK = 'application/vnd.devctl.waking+json'

describe.skipIf(!process.env.KUBECONFIG)('the waker', () => {
  let platform: TestPlatform
  let ann: Person
  const ns = `wake-${RUN}`
  const host = `web-${ns}.${DOMAIN}`
  beforeAll(async () => {
    platform = await openPlatform()
    ann = await platform.person('ann')
    expect((await platform.call('POST /namespaces', { token: ann.token, body: { name: ns } })).status).toBe(200)
    await platform.cluster.create({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: ns },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
      },
    })
    // Creates an Ingress without a ready backend, so that the wake continues.
    await platform.cluster.create({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'web', namespace: ns },
      spec: {
        rules: [
          {
            host,
            http: {
              paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }],
            },
          },
        ],
      },
    })
  })
  afterEach(() => {
    vi.restoreAllMocks()
    platform.later = 0
  })
  afterAll(() => platform?.close())

  const ask = (headers: Readonly<Record<string, string>> = {}, method: 'GET' | 'POST' = 'GET', url = '/') =>
    platform.app.inject({ method, url, headers: { host, ...headers }, ...(method === 'POST' && { payload: 'a=b' }) })
  const open = { 'sec-fetch-mode': 'navigate', accept: 'text/html' }
  const status = async () =>
    (await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: ns }))?.metadata.labels?.[
      'dev.platform/status'
    ]
  const sleep = async () => {
    const { status: code } = await platform.call('POST /namespaces/:ns/sleep', { token: ann.token, params: { ns } })
    expect(code).toBe(200)
    await eventually('it is seen to sleep', async () =>
      platform.parts.index.find(ns)?.status === 'Sleeping' ? true : undefined,
    )
  }
  const seen = (wanted: string) =>
    eventually(`it is ${wanted}`, async () => (platform.parts.index.find(ns)?.status === wanted ? true : undefined))

  test('a host without a route in an awake namespace, or of no namespace, is not found', async () => {
    await seen('Active')
    for (const one of [host, `web-none-${RUN}.${DOMAIN}`, `none.${DOMAIN}`, `a.${host}`, `${host}.`, `${host}:443`]) {
      const { statusCode, body } = await ask({ host: one })
      expect([statusCode, body], one).toEqual([404, 'There is nothing at this address.\n'])
      const page = await ask({ ...open, host: one })
      expect([page.statusCode, page.headers['content-type']], one).toEqual([404, 'text/html; charset=utf-8'])
      expect(page.body).toContain('<h1>Nothing at this address</h1>')
    }
    expect(await status()).toBe('Active')
  })

  test('the hosts of applications do not serve the platform', async () => {
    const bearer = { authorization: `Bearer ${ann.token}` }
    for (const one of [host, host.toUpperCase(), `${host}.`, `${host}:80`])
      for (const url of ['/api/v1/info', '/api/v1/me', '/login'])
        expect((await ask({ ...bearer, host: one }, 'GET', url)).headers['x-devctl-waker'], one + url).toBe('1')
    expect(
      (await platform.app.inject({ url: '/api/v1/info', headers: { host: `platform.${DOMAIN}` } })).statusCode,
    ).toBe(200)
  })

  test('status requests, scripts of pages, prefetches and posts wake nothing', async () => {
    await sleep()
    const wake = vi.spyOn(platform.parts.sleep, 'wake')
    const quiet: readonly Readonly<Record<string, string>>[] = [
      { 'sec-fetch-mode': 'cors' },
      { 'sec-fetch-mode': 'no-cors' },
      { ...open, 'sec-purpose': 'prefetch;prerender' },
      { accept: LOOK },
      { accept: LOOK, 'sec-fetch-mode': 'cors' },
    ]
    for (const headers of quiet) await ask(headers)
    expect((await ask({ 'sec-fetch-mode': 'navigate' }, 'POST')).statusCode).toBe(503)
    expect(wake).not.toHaveBeenCalled()
    expect(await status()).toBe('Sleeping')
  })

  test('a host without a route wakes nothing, and looks like one of a missing namespace', async () => {
    await sleep()
    const wake = vi.spyOn(platform.parts.sleep, 'wake')
    const none = { host: `web-none-${RUN}.${DOMAIN}` }
    const asked: readonly Readonly<Record<string, string>>[] = [open, {}, { accept: LOOK }]
    for (const headers of asked) {
      const { statusCode, headers: expected, body } = await ask({ ...headers, ...none })
      for (const one of [`${ns}.${DOMAIN}`, `api-${ns}.${DOMAIN}`, `web-web-${ns}.${DOMAIN}`]) {
        const answer = await ask({ ...headers, host: one })
        expect([answer.statusCode, answer.body], one).toEqual([statusCode, body])
        expect({ ...answer.headers, date: '' }).toEqual({ ...expected, date: '' })
      }
    }
    expect(wake).not.toHaveBeenCalled()
    expect(await status()).toBe('Sleeping')
  })

  test('a browser wakes a namespace at most once a minute, and gets a page until it is awake', async () => {
    await sleep()
    const answer = await ask(open, 'GET', '/some/page?x=1')
    expect(answer.statusCode).toBe(503)
    expect(answer.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'retry-after': '5' })
    expect(answer.headers['set-cookie']).toBeUndefined()
    // The policy allows only the script and the style of the page, by their hashes.
    const policy = String(answer.headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/unsafe|\*/)
    for (const tag of ['style', 'script']) {
      const [, text = ''] = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(answer.body) ?? []
      expect(policy).toContain(`${tag}-src 'sha256-${createHash('sha256').update(text).digest('base64')}'`)
    }
    await seen('Waking')
    expect(await status()).toBe('Waking')
    const look = await ask({ accept: LOOK, 'sec-fetch-mode': 'cors' })
    expect([look.statusCode, look.json()]).toEqual([200, { status: 'Waking', ready: 0, services: 1 }])
    expect(look.headers['access-control-allow-origin']).toBeUndefined()
    const other = await ask()
    expect([other.statusCode, other.headers['retry-after']]).toEqual([503, '5'])

    // Repeated requests do not keep it awake.
    await sleep()
    const wake = vi.spyOn(platform.parts.sleep, 'wake')
    for (let count = 0; count < 20; count++) expect((await ask(open)).statusCode).toBe(503)
    expect(wake).not.toHaveBeenCalled()
    expect(await status()).toBe('Sleeping')
    platform.later = 61_000
    // A program sends this request.
    expect((await ask()).statusCode).toBe(503)
    expect(wake).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ name: ns }))
    await seen('Waking')
    platform.later = 0

    // The routes of the namespace are open now.
    await platform.cluster.create({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'web-test', namespace: ns, labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.2.3'], conditions: { ready: true } }],
    } as never)
    await seen('Active')
    const last = await ask({ accept: LOOK })
    expect([last.statusCode, last.json()]).toEqual([200, { status: 'Active', ready: 0, services: 0 }])
    expect((await ask(open)).statusCode).toBe(503)
    platform.later = 11_000
    expect((await ask(open)).statusCode).toBe(404)
  })
})
