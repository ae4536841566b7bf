import { expect, test } from 'vitest'
import type { Me } from '../../../../../platform/api/me.ts'
import type { Failure } from '../../../../../platform/web/state/problem.ts'
import { isExpired, me, resumeSession } from '../../../../../platform/web/state/session.ts'
import { follow } from '../../../../../platform/web/state/stream.ts'
import { json, openPage } from '../stub-page.ts'

const ANN = { id: 'a', login: 'ann', role: 'developer' } as Me

/** Follows a log whose stream ends after each line, and answers with `refusal` while there is one. */
function followLog() {
  const server: { refusal: Response | undefined } = { refusal: undefined }
  const seen = { lines: 0, refused: [] as Failure[] }
  const page = openPage(path => {
    if (path.endsWith('/me')) return json(ANN)
    return server.refusal?.clone() ?? new Response(`id: 1\ndata: ${JSON.stringify({ type: 'line' })}\n\n`)
  })
  const listener = {
    onEvent: () => void seen.lines++,
    onRefused: (problem: Failure) => void seen.refused.push(problem),
  }
  const left = new AbortController()
  const over = follow('GET /runs/:id/log', { params: { id: 'r' } }, listener, left.signal)
  const leave = async () => {
    left.abort()
    await over
  }
  return { server, seen, pass: page.pass, leave }
}

const refusal = (status: number) => json({ code: 'platform/refused', message: 'no' }, status)

test('a stream whose session has ended continues after the user has logged in again', async () => {
  const { server, seen, pass, leave } = followLog()
  me.value = ANN
  await pass(100)
  server.refusal = refusal(401)
  await pass(60_000)
  expect(isExpired.value).toBe(true)
  const before = seen.lines
  server.refusal = undefined
  await pass(60_000)
  expect(seen).toEqual({ lines: before, refused: [] })
  await resumeSession()
  await pass(5_000)
  expect(seen.lines).toBeGreaterThan(before)
  await leave()
})

test('a stream whose session has ended waits no longer when its page is left', async () => {
  const { server, pass, leave } = followLog()
  me.value = ANN
  server.refusal = refusal(401)
  await pass(5_000)
  await leave()
  expect(isExpired.value).toBe(true)
})

test.each([
  ['of the platform with status 429', () => refusal(429)],
  ['of the platform with status 408', () => refusal(408)],
  ['of the platform with status 503', () => refusal(503)],
  ['of a proxy with status 429', () => new Response('too many requests', { status: 429 })],
  ['of a proxy with status 503', () => new Response('no backend', { status: 503 })],
])('a stream is opened again after a refusal %s', async (_, refuse) => {
  const { server, seen, pass, leave } = followLog()
  server.refusal = refuse()
  await pass(5_000)
  expect(seen).toEqual({ lines: 0, refused: [] })
  server.refusal = undefined
  await pass(20_000)
  expect(seen.lines).toBeGreaterThan(0)
  await leave()
})

test.each([403, 404])(
  'a stream that is refused with status %i is not opened again, and the reason is told',
  async status => {
    const { server, seen, pass } = followLog()
    server.refusal = refusal(status)
    await pass(5_000)
    server.refusal = undefined
    await pass(20_000)
    expect(seen).toMatchObject({ lines: 0, refused: [{ kind: 'refused', message: 'no' }] })
  },
)
