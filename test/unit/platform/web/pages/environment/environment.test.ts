import { h } from 'preact'
import { useLocation } from 'preact-iso/router'
import { expect, test, vi } from 'vitest'
import type { EnvironmentDetails } from '../../../../../../platform/api/environments.ts'
import { addressOf, PAGES } from '../../../../../../platform/api/pages.ts'
import { Environment } from '../../../../../../platform/web/pages/environment/environment.tsx'
import { json, openPage, openStream, routed } from '../../stub-page.ts'

const serviceNamed = (name: string) => ({
  name,
  state: 'ready',
  kind: 'Deployment',
  workload: `deployment/${name}`,
  ready: 1,
  wanted: 1,
  restarts: 0,
  endpoints: [],
  exposed: [],
  internal: [],
  dependsOn: [],
  problems: [],
})

const shop = (namespace: string) =>
  ({ name: 'shop', namespace, state: 'ready', services: ['api', 'web'].map(serviceNamed) }) as EnvironmentDetails

const NAMESPACE = { kind: 'namespace', status: 'Active', role: 'owner', owner: { id: 'a', login: 'ann' }, members: [] }

test.each([
  ['another service', { ns: 'team-a', env: 'shop', service: 'web' }, 'log of web in team-a'],
  ['the same service of another namespace', { ns: 'team-b', env: 'shop', service: 'api' }, 'log of api in team-b'],
])('after the log of one service, the page shows the log of %s, and back', async (_, next, expected) => {
  const start = { ns: 'team-a', env: 'shop', service: 'api' }
  let go = (_: string) => {}
  const Links = () => {
    go = useLocation().route
    return null
  }
  const page = openPage(
    (path, init) => {
      const { pathname, searchParams } = new URL(path, 'https://platform.example.com')
      const namespace = /namespaces\/([^/]+)/.exec(pathname)?.[1] ?? ''
      if (pathname.endsWith('/live')) return openStream([], init)
      if (pathname.endsWith('/logs')) {
        const service = searchParams.get('service')
        const text = `log of ${service} in ${namespace}`
        return openStream([{ type: 'line', service, source: `${service}-0`, time: '2026-01-01T00:00:00Z', text }], init)
      }
      if (pathname.endsWith('/environments/shop')) return json(shop(namespace))
      return json(pathname.endsWith(`/namespaces/${namespace}`) ? { name: namespace, ...NAMESPACE } : { items: [] })
    },
    `https://platform.example.com${addressOf('service', start)}`,
  )
  page.show(routed(PAGES.service, Environment, h(Links, {})))
  const seen = async () => {
    await page.pass(200)
    return page.root.text.match(/log of \S+ in \S+/g)
  }
  // The log is a part of the page that is loaded when it is first shown.
  await vi.waitFor(async () => expect(await seen()).toEqual(['log of api in team-a']), { timeout: 10_000 })
  go(addressOf('service', next))
  expect(await seen()).toEqual([expected])
  go(addressOf('service', start))
  expect(await seen()).toEqual(['log of api in team-a'])
})
