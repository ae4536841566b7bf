import { h } from 'preact'
import { expect, test } from 'vitest'
import { AskTogether, runningIn, stateOfNamespace } from '../../../../../platform/web/parts/namespace-state.tsx'
import { putResource, useResource } from '../../../../../platform/web/state/resource.ts'
import { json, openPage } from '../stub-page.ts'

const ROUTE = 'GET /namespaces/:ns/environments'

const itemOf = (state: string) => ({
  name: 'shop',
  state,
  services: 1,
  ready: state === 'ready' ? 1 : 0,
  endpoints: [],
  ...(state === 'failed' && { problem: { service: 'web', reason: 'exited' } }),
})

const DEPLOY = { environment: 'shop', run: 'r1', state: 'running' }

/** Opens a page with a sidebar that requests the content of a namespace every 10 s. */
function openSidebar(ns: string) {
  const server = { state: 'ready', deploys: [] as object[], wait: 0 }
  const page = openPage(async path => {
    const { state, deploys, wait } = server
    await new Promise(resolve => setTimeout(resolve, wait))
    const environments = [itemOf(state)]
    return json({
      items: path.includes('/environments?')
        ? [{ namespace: ns, environments, failedDeploys: [], deploys }]
        : environments,
    })
  })
  const input = { params: { ns } }
  const sidebar = h(AskTogether, { names: [ns], every: 10_000 })
  const NamespacePage = () => {
    useResource(ROUTE, input, 1_000)
    return null
  }
  const word = () => stateOfNamespace('Active', runningIn(ns)).word
  /** Stores a state that the stream of the namespace reports. */
  const stream = (state: string) => putResource(ROUTE, input, { items: [itemOf(state)] } as never)
  return { ...page, server, sidebar, NamespacePage, word, stream }
}

test('the sidebar shows the end of a problem that only another page has seen', async () => {
  const { server, sidebar, NamespacePage, word, show, pass } = openSidebar('seen-by-page')
  show([sidebar, null])
  await pass(100)
  expect(word()).toBe('1 service ready')
  server.state = 'failed'
  show([sidebar, h(NamespacePage, {})])
  await pass(500)
  expect(word()).toBe('Problem in shop')
  server.state = 'ready'
  show([sidebar, null])
  await pass(20_000)
  expect(word()).toBe('1 service ready')
})

test('the sidebar shows the end of a deploy that only another page has seen', async () => {
  const { server, sidebar, word, show, pass } = openSidebar('seen-by-part')
  const part = h(AskTogether, { names: ['seen-by-part', 'other'], every: 1_000 })
  show([sidebar, null])
  await pass(100)
  server.deploys = [DEPLOY]
  show([sidebar, part])
  await pass(500)
  expect(word()).toBe('Deploying shop')
  server.deploys = []
  show([sidebar, null])
  await pass(20_000)
  expect(word()).toBe('1 service ready')
})

test('a page that is opened again keeps newer data of a stream', async () => {
  const { server, sidebar, word, show, pass, stream } = openSidebar('opened-again')
  show([sidebar, null])
  await pass(100)
  show(null)
  await pass(0)
  stream('failed')
  server.wait = 5_000
  show([sidebar, null])
  await pass(1_000)
  expect(word()).toBe('Problem in shop')
})

test('an answer does not replace newer data of a stream', async () => {
  const { server, sidebar, word, show, pass, stream } = openSidebar('overtaken')
  server.wait = 5_000
  show([sidebar, null])
  await pass(1_000)
  stream('failed')
  await pass(5_000)
  expect(word()).toBe('Problem in shop')
})
