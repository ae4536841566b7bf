import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { confirmPushed, ownSteps } from '../../../builds/build-images.ts'
import type { BuildEvent } from '../../../builds/events.ts'
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

const spec = (text: string) => ({ context: { folder: '/' }, dockerfile: { text } })

/** Returns the names of steps as they are shown. */
function shown(service: string, specs: Readonly<Record<string, ReturnType<typeof spec>>>, names: readonly string[]) {
  const events: BuildEvent[] = []
  const on = ownSteps(new Map(Object.entries(specs)), event => events.push(event))
  const vertexes = names.map(name => ({ digest: `sha256:${name}`, name }))
  on({ type: 'build-status', name: service, status: { vertexes } })
  return events.flatMap(event => (event.type === 'build-status' ? (event.status.vertexes ?? []) : [])).map(v => v.name)
}

const api = spec('FROM node AS deps\nRUN npm ci\nFROM deps AS Api\nCOPY . .\n')
const worker = spec('FROM node AS worker\nRUN npm ci\nFROM worker\nCOPY . .\n')

test('a step that builds have in common does not show the stage of another Dockerfile', () => {
  const names = ['[worker 2/4] RUN npm ci', '[linux/amd64 worker 2/4] RUN npm ci', '[stage-1 2/2] COPY . .']
  expect(shown('api', { api, worker }, names)).toEqual(['RUN npm ci', 'RUN npm ci', 'COPY . .'])
  expect(shown('worker', { api, worker }, names)).toEqual(names)
})

test('a stage of the own Dockerfile, and a name without a stage, stay', () => {
  const names = [
    '[deps 2/2] RUN npm ci',
    '[api 2/2] COPY . .',
    '[linux/arm64 api 2/2] COPY . .',
    '[2/4] RUN true',
    '[internal] load build definition from Dockerfile',
    '[auth] library/node:pull token for registry-1.docker.io',
    'exporting to image',
  ]
  expect(shown('api', { api, worker }, names)).toEqual(names)
})

test('a step of a fetched Dockerfile may have any stage', () => {
  const remote = { context: { remote: 'https://example.com/app.git' }, dockerfile: { path: 'Dockerfile' } }
  expect(shown('api', { api: remote as never, worker }, ['[worker 2/4] RUN npm ci'])).toEqual([
    '[worker 2/4] RUN npm ci',
  ])
})
