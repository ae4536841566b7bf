import { h } from 'preact'
import { expect, test } from 'vitest'
import {
  putResource,
  type Read,
  type ReadState,
  readResource,
  refreshAll,
  refreshResource,
  useResource,
} from '../../../../../platform/web/state/resource.ts'
import { json, openPage } from '../stub-page.ts'

const ROUTE = 'GET /namespaces/:ns/environments'
/** Time that the platform takes for an answer, in milliseconds. */
const SLOW = 5_000

/** Opens a page with the environments of a namespace. Answers have what was stored when the request was sent. */
async function openList(ns: string, every = 15_000) {
  const server = { stored: ['a'], wait: 0, requests: 0, refusal: 0 }
  const page = openPage(async () => {
    server.requests++
    if (server.refusal) return json({ code: 'platform/refused', message: 'no' }, server.refusal)
    const items = server.stored.map(name => ({ name }))
    await new Promise(resolve => setTimeout(resolve, server.wait))
    return json({ items })
  })
  const input = { params: { ns } }
  let read: Read<unknown> | undefined
  const List = () => {
    read = useResource(ROUTE, input, every)
    return null
  }
  page.show(h(List, {}))
  await page.pass(100)
  const names = () =>
    (readResource(ROUTE, input) as ReadState<{ items: { name: string }[] }>).data?.items.map(one => one.name)
  /** Sends a poll, and stores `names` before its answer arrives. */
  const changeDuringPoll = async (stored: string[]) => {
    server.wait = SLOW
    dispatchEvent(new Event('online'))
    await page.pass(100)
    server.stored = stored
  }
  return { ...page, server, input, names, changeDuringPoll, read: read as unknown as Read<{ items: object[] }> }
}

test.each([
  ['refresh', ({ read }) => void read.refresh()],
  ['refreshResource', ({ input }) => refreshResource(ROUTE, input)],
  ['refreshAll', () => refreshAll()],
] satisfies [string, (list: Awaited<ReturnType<typeof openList>>) => void][])(
  '%s shows a change that was made after a poll was sent',
  async (name, refresh) => {
    const list = await openList(`refresh-${name}`)
    await list.changeDuringPoll(['a', 'b'])
    refresh(list)
    await list.pass(SLOW + 100)
    expect(list.names()).toEqual(['a', 'b'])
    expect(list.server.requests).toBe(3)
  },
)

test('refresh ends when the change is shown', async () => {
  const { changeDuringPoll, read, pass, names } = await openList('refresh-end')
  await changeDuringPoll(['a', 'b'])
  let seen: unknown
  void read.refresh().then(() => {
    seen = names()
  })
  await pass(SLOW + 100)
  expect(seen).toEqual(['a', 'b'])
})

test.each([
  ['put', ({ read }, data) => read.put(data)],
  ['putResource', ({ input }, data) => putResource(ROUTE, input, data as never)],
] satisfies [string, (list: Awaited<ReturnType<typeof openList>>, data: { items: object[] }) => void][])(
  'data of %s is not replaced by the answer to an older poll, but by that to a newer one',
  async (name, put) => {
    const list = await openList(`put-${name}`)
    await list.changeDuringPoll(['a', 'b', 'c'])
    put(list, { items: [{ name: 'a' }, { name: 'b' }] })
    await list.pass(SLOW + 100)
    expect(list.names()).toEqual(['a', 'b'])
    await list.pass(15_000 + SLOW)
    expect(list.names()).toEqual(['a', 'b', 'c'])
  },
)

test('polls and readers of a resource share one request', async () => {
  const { changeDuringPoll, server } = await openList('shared')
  await changeDuringPoll(['a'])
  dispatchEvent(new Event('online'))
  expect(server.requests).toBe(2)
})

test.each([
  ['keeps the data after a refusal that passes', 429, ['a']],
  ['keeps the data after a failure of the platform', 500, ['a']],
  ['keeps the data until the user has logged in again', 401, ['a']],
  ['shows no data to a user who has lost the permission', 403, undefined],
  ['shows no data that was deleted', 404, undefined],
])('a page %s', async (_title, status, expected) => {
  const list = await openList(`refused-${status}`)
  list.server.refusal = status
  await list.pass(15_000)
  expect(list.server.requests).toBe(2)
  expect(list.read.state.value.problem?.message).toBe('no')
  expect(list.names()).toEqual(expected)
})
