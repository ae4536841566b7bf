import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { confirmPushed } from '../../../builds/confirm-pushed.ts'
import type { PlannedBuild } from '../../../builds/plan/planned-build.ts'

const DIGEST = `sha256:${'a'.repeat(64)}`
const OTHER = `sha256:${'b'.repeat(64)}`
let host = ''

const server = createServer((request, response) => {
  const path = request.url!
  if (path === '/v2/') return response.end('{}')
  if (path === `/v2/there/manifests/${DIGEST}`) return response.setHeader('Docker-Content-Digest', DIGEST).end()
  if (path === `/v2/other/manifests/${DIGEST}`) return response.setHeader('Docker-Content-Digest', OTHER).end()
  if (path.startsWith('/v2/secret/')) return response.writeHead(403).end('{"errors":[{"code":"DENIED"}]}')
  return response.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN"}]}')
})
beforeAll(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

test.each([
  ['there', 'built'],
  ['other', 'failed'],
  ['gone', 'failed'],
  ['secret', 'built'],
])('confirmPushed checks the pushed image `%s` in its registry', async (name, kind) => {
  const build = { service: 'web', reference: `${host}/${name}:1` } as PlannedBuild
  const options = { env: { DOCKER_CONFIG: '/nothing' }, signal: new AbortController().signal }
  const ends = await confirmPushed([build], new Map([['web', { kind: 'built', digest: DIGEST }]]), options)
  expect(ends.get('web')).toMatchObject({ kind })
})

test('confirmPushed ignores a registry that cannot be reached', async () => {
  const build = { service: 'web', reference: '127.0.0.1:1/web:1' } as PlannedBuild
  const ends = new Map([['web', { kind: 'built', digest: DIGEST } as const]])
  expect(await confirmPushed([build], ends, { env: {}, signal: new AbortController().signal })).toEqual(ends)
})
