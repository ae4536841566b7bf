import { Agent, createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { exchangeWhole, NoAnswer } from '../../../../adapters/http/exchange.ts'

/** Answer of a server, with a limit of half a second for silence. */
async function answerOf(respond: (response: ServerResponse) => void) {
  const server = createServer((_, response) => respond(response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  try {
    return await exchangeWhole(
      { url, method: 'GET', headers: {} },
      new Agent(),
      { silence: 500, limit: 1e6 },
      undefined,
    )
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** Sends pieces until all are sent or the connection ends. */
const drip = (piece: string, count: number) => (response: ServerResponse) => {
  let left = count
  const timer = setInterval(() => {
    if (left-- > 0) response.write(piece)
    else response.end()
  }, 10)
  response.on('close', () => clearInterval(timer))
}

test('exchangeWhole gives up on an answer that arrives too slowly', async () => {
  const began = performance.now()
  await expect(answerOf(drip('x', 1000))).rejects.toBeInstanceOf(NoAnswer)
  expect(performance.now() - began).toBeLessThan(8000)
})

test('exchangeWhole accepts a long answer that takes longer than the limit of silence', async () => {
  expect((await answerOf(drip('x'.repeat(2000), 60))).body).toHaveLength(120_000)
})
