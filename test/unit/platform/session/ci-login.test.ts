import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { loginAsJob } from '../../../../platform/session/ci-login.ts'

test.each([
  ['', 'from-actions'],
  [undefined, 'from-actions'],
  ['own', 'own'],
])('a job of GitHub Actions with the variable DEVCTL_ID_TOKEN=%s sends the right token', async (own, wanted) => {
  let sent: unknown
  const server = createServer(async (request, response) => {
    const isActions = request.url?.startsWith('/actions') === true
    if (!isActions) sent = await json(request)
    const answer = isActions ? { value: 'from-actions' } : { token: 'devctl_ci_x', expires: '', login: 'ci:shop' }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = {
    DEVCTL_ID_TOKEN: own,
    ACTIONS_ID_TOKEN_REQUEST_URL: `${url}/actions`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'x',
  }
  await loginAsJob(url, env, AbortSignal.timeout(10_000))
  expect(sent).toEqual({ jwt: wanted })
})
