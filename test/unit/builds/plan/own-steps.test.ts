import { expect, test } from 'vitest'
import type { BuildEvent } from '../../../../builds/events.ts'
import { ownSteps } from '../../../../builds/plan/own-steps.ts'

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
