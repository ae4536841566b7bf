import { afterEach, describe, expect, test } from 'vitest'
import { Slots } from '../../../../adapters/http/slots.ts'
import type { Change, PageOptions } from '../../../../adapters/kubernetes/cluster.ts'
import { Answer, type FakeServer, fakeServer, type Handler } from '../../../support/kubernetes/fake-server.ts'

let server: FakeServer | undefined
afterEach(() => server?.close())

const PATH = '/api/v1/namespaces/shop/configmaps'
const object = (name: string, resourceVersion: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop', resourceVersion },
})
const bookmark = (resourceVersion: string, annotations?: object) => ({
  type: 'BOOKMARK',
  object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion, ...(annotations && { annotations }) } },
})
const END = { 'k8s.io/initial-events-end': 'true' }
const textOf = (change: Change) => ('object' in change ? `${change.type} ${change.object.metadata.name}` : change.type)

/**
 * Returns the changes that a watch reports until there are `count` of them, and the queries of its requests. `answer`
 * gives the events of each request, which then ends.
 */
async function watching(
  count: number,
  answer: (query: URLSearchParams) => readonly object[] | Answer | object,
  size?: number,
) {
  const handler: Handler = ({ path, query }, response) => {
    if (path !== PATH) return undefined
    const given = answer(query)
    if (!Array.isArray(given)) return given
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(given.map(event => `${JSON.stringify(event)}\n`).join(''))
    return undefined
  }
  server = await fakeServer(handler)
  const done = new AbortController()
  const told: string[] = []
  const query = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop' }
  for await (const change of server.cluster.watch(query, {
    signal: done.signal,
    ...(size !== undefined && { size }),
  })) {
    told.push(textOf(change))
    if (told.length === count) break
  }
  done.abort()
  return { told, queries: server.requests.map(({ query }) => query) }
}

test('one request of a watch reports the existing objects and their changes', async () => {
  const { told, queries } = await watching(5, query =>
    query.has('sendInitialEvents')
      ? [
          { type: 'ADDED', object: object('a', '7') },
          { type: 'ADDED', object: object('b', '3') },
          bookmark('9', END),
          { type: 'MODIFIED', object: object('b', '11') },
        ]
      : [{ type: 'DELETED', object: object('a', '12') }],
  )
  expect(told).toEqual(['Restarted', 'Changed a', 'Changed b', 'Listed', 'Changed b'])
  expect(queries).toHaveLength(1)
})

test('a watch starts again if a connection ends before the list is complete, else it continues', async () => {
  let connections = 0
  const { told, queries } = await watching(6, query => {
    connections++
    if (connections === 1) return [{ type: 'ADDED', object: object('a', '7') }]
    if (query.has('sendInitialEvents')) return [{ type: 'ADDED', object: object('a', '7') }, bookmark('9', END)]
    return [bookmark('10'), { type: 'DELETED', object: object('a', '12') }]
  })
  expect(told).toEqual(['Restarted', 'Changed a', 'Restarted', 'Changed a', 'Listed', 'Deleted a'])
  expect(queries.map(query => query.get('resourceVersion'))).toEqual([null, null, '9'])
})

test('a watch asks for a list first if the server does not send initial events', async () => {
  const refusal = { kind: 'Status', code: 422, reason: 'Invalid', message: 'sendInitialEvents is forbidden for watch' }
  const { told, queries } = await watching(4, query => {
    if (query.has('sendInitialEvents')) return new Answer(422, refusal)
    if (query.has('watch')) return [{ type: 'MODIFIED', object: object('a', '12') }]
    return { metadata: { resourceVersion: '9' }, items: [object('a', '7')] }
  })
  expect(told).toEqual(['Restarted', 'Changed a', 'Listed', 'Changed a'])
  expect(queries.map(query => query.get('resourceVersion'))).toEqual([null, null, '9'])
})

describe('watches that ask for a list first', () => {
  const refusal = { kind: 'Status', code: 422, reason: 'Invalid', message: 'sendInitialEvents is forbidden for watch' }
  const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'the continue parameter is too old' }
  const page = (name: string, next?: string) => ({
    metadata: { resourceVersion: '9', ...(next !== undefined && { continue: next }) },
    items: [object(name, '7')],
  })

  /** Runs three watches at once; each calls `seen` for every change that it reports before its list is complete. */
  async function threeUntilListed({ cluster }: FakeServer, options: PageOptions = {}, seen = async () => {}) {
    const watch = async () => {
      const done = new AbortController()
      const query = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop' }
      for await (const { type } of cluster.watch(query, { ...options, signal: done.signal })) {
        if (type === 'Listed') break
        await seen()
      }
      done.abort()
    }
    await Promise.all([watch(), watch(), watch()])
  }

  test('a page of a list is reported before the next one is requested, and can be small', async () => {
    const answer = (query: URLSearchParams) =>
      query.has('sendInitialEvents') ? new Answer(422, refusal) : page('a', 'more')
    const { told, queries } = await watching(2, answer, 10)
    expect(told).toEqual(['Restarted', 'Changed a'])
    const lists = queries.filter(query => !query.has('watch'))
    expect(lists.map(query => [query.get('limit'), query.get('continue')])).toEqual([['10', null]])
  })

  test('watches that are refused at the same time each ask for a list', async () => {
    let refused = 0
    let refuseAll = () => {}
    const allAsked = new Promise<void>(resolve => {
      refuseAll = resolve
    })
    server = await fakeServer(async ({ query }) => {
      if (!query.has('sendInitialEvents')) return page('a')
      if (++refused === 3) refuseAll()
      await allAsked
      return new Answer(422, refusal)
    })
    await threeUntilListed(server)
    expect(refused).toBe(3)
  })

  test('the slots limit how many pages of many watches are in memory', async () => {
    const slots = new Slots(1)
    let held = 0
    const heldAtRequests: number[] = []
    server = await fakeServer(({ query }) => {
      if (query.has('sendInitialEvents')) return new Answer(422, refusal)
      heldAtRequests.push(held)
      return query.has('continue') ? page('b') : page('a', 'more')
    })
    await threeUntilListed(server, { slots }, async () => {
      held++
      await new Promise(resolve => setTimeout(resolve, 5))
      held--
    })
    expect(heldAtRequests).toEqual([0, 0, 0, 0, 0, 0])
  })

  test('a list is complete after its last page', async () => {
    const { told } = await watching(5, query => {
      if (query.has('sendInitialEvents')) return new Answer(422, refusal)
      if (query.has('watch')) return [{ type: 'MODIFIED', object: object('a', '12') }]
      return query.has('continue') ? page('b') : page('a', 'more')
    })
    expect(told).toEqual(['Restarted', 'Changed a', 'Changed b', 'Listed', 'Changed a'])
  })

  test('a list starts again when the server no longer has its rest', async () => {
    let hasExpired = false
    const { told } = await watching(6, query => {
      if (query.has('sendInitialEvents')) return new Answer(422, refusal)
      if (!query.has('continue')) return page('a', 'more')
      if (hasExpired) return page('b')
      hasExpired = true
      return new Answer(410, gone)
    })
    expect(told).toEqual(['Restarted', 'Changed a', 'Restarted', 'Changed a', 'Changed b', 'Listed'])
  })
})

test('a permanent failure ends a watch', async () => {
  const refusal = { kind: 'Status', code: 400, reason: 'BadRequest', message: 'unable to parse the selector' }
  await expect(watching(1, () => new Answer(400, refusal))).rejects.toMatchObject({ failure: 'invalid' })
})
