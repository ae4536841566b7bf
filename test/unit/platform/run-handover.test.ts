import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { awaitClone, reportFailure, reportRun, reportSuccess } from '../../../platform/runner/handover.ts'
import { reachable } from '../../../platform/runner/reachable.ts'

// The run in a Pod learns that the clone next to it is done.

const soon = () => AbortSignal.timeout(10_000)

/** A port that nothing listens to just now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as { readonly port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}

test('the clone connects before the run listens, and reports success', async () => {
  const port = await freePort()
  const calling = reportRun(soon(), port)
  await new Promise(resolve => setTimeout(resolve, 120))
  const waiting = awaitClone(soon(), port)
  await reportSuccess(await calling)
  expect(await waiting).toBe(true)
})

test('a clone that ends without a report has failed', async () => {
  const port = await freePort()
  const waiting = awaitClone(soon(), port)
  const socket = await reportRun(soon(), port)
  socket.destroy()
  expect(await waiting).toBe(false)
})

test('a clone that fails before the run listens reports its failure', async () => {
  const port = await freePort()
  const failing = reportFailure(reportRun(soon(), port), 10_000)
  await new Promise(resolve => setTimeout(resolve, 120))
  expect(await awaitClone(soon(), port)).toBe(false)
  await failing
  // If the run does not start, the report ends nevertheless.
  await reportFailure(reportRun(soon(), port), 100)
})

test('a clone that reports anything else has failed', async () => {
  const port = await freePort()
  const waiting = awaitClone(soon(), port)
  const socket = await reportRun(soon(), port)
  socket.end('don')
  expect(await waiting).toBe(false)
})

test('neither the clone nor the run waits forever for the other', async () => {
  const port = await freePort()
  await expect(reportRun(AbortSignal.timeout(200), port)).rejects.toThrow(/timeout/)
  await expect(awaitClone(AbortSignal.timeout(200), port)).rejects.toThrow(/abort/)
  const over = new AbortController()
  const waiting = awaitClone(over.signal, port)
  const socket = await reportRun(soon(), port)
  over.abort()
  await expect(waiting).rejects.toThrow(/abort/)
  socket.destroy()
})

test('reachable waits for an address that refuses connections, but only until its signal ends', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  let isReached = false
  const reaching = reachable(url, soon()).then(() => {
    isReached = true
  })
  await new Promise(resolve => setTimeout(resolve, 150))
  expect(isReached).toBe(false)
  const server = createServer().listen(port, '127.0.0.1')
  await reaching
  await new Promise(resolve => server.close(resolve))
  await reachable(url, AbortSignal.timeout(200))
})
