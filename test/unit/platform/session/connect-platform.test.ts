import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { connectPlatform } from '../../../../platform/session/connect-platform.ts'

type Answer = (response: ServerResponse) => unknown

const busy: Answer = response =>
  response
    .writeHead(429, { 'content-type': 'application/json' })
    .end(JSON.stringify({ code: 'platform/busy', message: 'you already have 12 logs of runs open' }))

const line =
  (text: string): Answer =>
  response =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`id: ${text}\ndata: {"text":"${text}"}\n\n`)

/** Follows the log of a run whose requests get these answers in turn; returns its lines, and the number of requests. */
async function follow(...answers: readonly Answer[]) {
  const count = { requests: 0 }
  const server = createServer((_, response) => answers[count.requests++]!(response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const platform = connectPlatform(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, undefined, {})
  const texts: string[] = []
  const isLast = ({ text }: { readonly text?: string }) => text === 'last'
  const input = { params: { id: '01kaaaaaaaaaaaaaaaaaaaaaaa' } }
  const events = platform.follow('GET /runs/:id/log', input, AbortSignal.timeout(20_000), isLast as never)
  const done = (async () => {
    for await (const event of events) texts.push((event as { readonly text: string }).text)
  })()
  return { done, texts, count }
}

test('a stream that the user may not open fails at once', async () => {
  const { done, count } = await follow(busy)
  await expect(done).rejects.toThrow('you already have 12 logs of runs open')
  expect(count.requests).toBe(1)
})

test('a stream is opened again although the server still counts its broken connection', async () => {
  const { done, texts, count } = await follow(line('first'), busy, line('last'))
  await done
  expect(texts).toEqual(['first', 'last'])
  expect(count.requests).toBe(3)
})
