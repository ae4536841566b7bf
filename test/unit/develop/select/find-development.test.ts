import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findDevelopment } from '../../../../develop/select/find-development.ts'
import { openProject } from '../../../../project/open-project.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

const COMPOSE = 'services: {api: {image: node, volumes: [".:/app"]}}\n'

test.each([
  ['with a deploy section', 'deploy: {compose: other.yaml}\ndev: {api: {sync: [".:/app"]}}', {}, true],
  ['with a Compose file beside it', 'dev: {api: {sync: [".:/app"]}}', { 'compose.yaml': COMPOSE }, true],
  ['with the folders of a Compose file', 'dev: {api: {command: x}}', { 'compose.yaml': COMPOSE }, true],
  ['that creates its workload', 'dev: {api: {autocreate: true, sync: [".:/app"]}}', { 'compose.yaml': COMPOSE }, false],
  ['with nothing to deploy', 'dev: {api: {sync: [".:/app"]}}', {}, false],
])('findDevelopment reports if `up` can deploy a development container %s', async (_, manifest, files, hasDeploy) => {
  const cwd = makeFolder({ 'devctl.yml': `${manifest}\n`, ...files })
  const workspace = { cwd, env: { DEVCTL_HOME: join(cwd, '../home') }, readStdin: async () => new Uint8Array() }
  const project = await openProject(workspace, {})
  const found = await findDevelopment({ workspace, on: () => {} }, { dev: 'api' }, project)
  expect(found.hasDeploy).toBe(hasDeploy)
})
