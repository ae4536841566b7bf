import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { withPlatformVariables } from '../../../platform/session/with-variables.ts'
import { Secret } from '../../../project/contexts/secret.ts'

/** Returns the result of a deploy that gets its variables from a platform that cannot read these. */
async function lost(unreadable: readonly object[], env: Readonly<Record<string, string>> = {}) {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ variables: [], unreadable }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.close()
  })
  const context = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const workspace = { cwd: '/', env } as Parameters<typeof withPlatformVariables>[0]['workspace']
  const project = {} as Parameters<typeof withPlatformVariables>[0]['project']
  const target = { context, namespace: 'shop', stored: { name: context, token: new Secret('devctl_cli_x') } }
  const signal = AbortSignal.timeout(20_000)
  return withPlatformVariables({ workspace, project, signal, on: () => {} }, { file: undefined } as never, target)
}

test('a deploy fails if the platform cannot read a variable any more', async () => {
  const unreadable = [
    { name: 'DB_PASSWORD', scope: 'namespace:shop' },
    { name: 'GREETING', scope: 'user' },
  ]
  await expect(lost(unreadable)).rejects.toMatchObject({
    message: 'the platform cannot read the value of `DB_PASSWORD`, `GREETING` any more',
    hint: 'set it again: `devctl variables set DB_PASSWORD`, `devctl variables set --user GREETING`',
  })
})

test('a variable of the shell replaces one that the platform cannot read', async () => {
  const project = await lost([{ name: 'DB_PASSWORD', scope: 'namespace:shop' }], { DB_PASSWORD: 'mine' })
  expect(project).toHaveProperty('project')
})
