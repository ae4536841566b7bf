import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DEVELOPMENT_LABEL, MIRROR_LABEL, UP_ANNOTATION } from '../../../../constructs/mirror/names.ts'
import { doctor } from '../../../../develop/doctor/doctor.ts'
import { sessionFolder } from '../../../../develop/session/session-folder.ts'
import { stateHome } from '../../../../project/contexts/home.ts'
import { openProject } from '../../../../project/open-project.ts'
import type { Session } from '../../../../project/session.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

test.each([
  ['in the Compose file', { 'compose.yaml': 'services: {my_api: {image: node}}\n' }, 'my_api', 'my-api'],
  ['in Kubernetes', { 'compose.yaml': 'services: {my_api: {image: node}}\n' }, 'my-api', 'my-api'],
  ['in the manifest', { 'devctl.yml': 'dev: {1api: {sync: [".:/app"]}}\n' }, '1api', '1api'],
])('doctor finds the session of a development container by its name %s', async (_, files, dev, name) => {
  const cwd = makeFolder(files)
  const home = join(cwd, '../home')
  const folder = join(home, 'develop/abc/shop', name)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'up.log'), 'ready\n')
  const workspace = { cwd, env: { DEVCTL_HOME: home }, readStdin: async () => new Uint8Array() }
  const project = await openProject(workspace, {})
  const world = {
    workspace,
    project,
    session: new Error('no cluster'),
    signal: new AbortController().signal,
    now: () => new Date(0),
    on: () => {},
  }
  const { parts } = await doctor(world, { dev })
  expect(parts.find(part => part.name === 'log of `up`')).toEqual({ name: 'log of `up`', files: 2 })
})

test('doctor finds the active development container of the project that `-f` names', async () => {
  const cwd = makeFolder({ 'app/compose.yaml': 'services: {api: {image: node}}\n' })
  const mirror = (dev: string, project: string) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: `${dev}-dev`,
      namespace: 'shop',
      labels: { [MIRROR_LABEL]: dev, [DEVELOPMENT_LABEL]: dev },
      annotations: {
        [UP_ANNOTATION]: JSON.stringify({
          ...{ version: 1, development: dev, mirror: `${dev}-dev`, by: 'ann', since: '2026-11-23T00:00:00Z' },
          ...{ project, before: [], owners: [] },
        }),
      },
    },
  })
  const mirrors = [mirror('old', join(cwd, 'app')), mirror('other', '/elsewhere')]
  const session = {
    cluster: { list: async ({ kind }: { kind: string }) => (kind === 'Deployment' ? mirrors : []) },
    namespace: 'shop',
    access: { server: new URL('https://kubernetes') },
    target: { context: 'test' },
  } as unknown as Session
  const workspace = { cwd, env: { DEVCTL_HOME: join(cwd, '../home') }, readStdin: async () => new Uint8Array() }
  for (const dev of ['old', 'other']) {
    const key = { server: session.access.server.href, namespace: 'shop', dev }
    mkdirSync(sessionFolder(stateHome(workspace), key), { recursive: true })
  }
  const loading = { file: ['app/compose.yaml'] }
  const project = await openProject(workspace, loading)
  const { signal } = new AbortController()
  const world = { workspace, project, session, signal, now: () => new Date(0), on: () => {} }
  const { parts } = await doctor(world, { loading, deadline: 5000 })
  expect(parts.find(part => part.name === 'objects')?.missing).not.toBe('no development container is known')
})
