import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { doctor } from '../../../../develop/doctor/doctor.ts'
import { openProject } from '../../../../project/open-project.ts'
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
