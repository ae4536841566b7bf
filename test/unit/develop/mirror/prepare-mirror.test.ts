import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { prepareMirror } from '../../../../develop/mirror/prepare-mirror.ts'
import { findDevelopment } from '../../../../develop/select/find-development.ts'
import type { UpContext } from '../../../../develop/up-input.ts'
import { openProject } from '../../../../project/open-project.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

const container = { name: 'api', image: 'node:22', command: ['node', 'live.js'], args: ['--live'] }
const API: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'api', namespace: 'shop', uid: 'u' },
  spec: { template: { spec: { containers: [{ ...container, securityContext: { runAsUser: 1000 } }] } } },
}

const MANIFEST = { 'devctl.yml': 'dev: {api: {command: [node, own.js], sync: [".:/app"]}}\n' }
const COMPOSE = { 'compose.yaml': 'services: {api: {image: node, volumes: [".:/app"]}}\n' }
const NPM = ['npm', 'run', 'dev']

test.each([
  ['in the background', MANIFEST, { command: NPM, detached: true }, 'command', NPM],
  ['in the background of a Compose file', COMPOSE, { command: NPM, detached: true }, 'command', NPM],
  ['of the manifest in the background', MANIFEST, { detached: true }, 'command', ['node', 'own.js']],
  ['of the workload in the background', COMPOSE, { detached: true }, 'command', undefined],
  ['at the terminal', MANIFEST, { command: NPM }, 'hold', ['node', 'own.js']],
  ['that is a shell in the background', MANIFEST, { command: ['sh'], detached: true }, 'hold', ['sh']],
])('prepareMirror gives process 1 the command %s', async (_, files, input, runs, command) => {
  const cwd = makeFolder({ ...files, 'index.js': '' })
  const workspace = { cwd, env: { DEVCTL_HOME: join(cwd, '../home') }, readStdin: async () => new Uint8Array() }
  const session = { namespace: 'shop', signal: new AbortController().signal, cluster: {} }
  const world = { workspace, session, on: () => {} } as unknown as UpContext
  const found = await findDevelopment(world, { dev: 'api' }, await openProject(workspace, {}))
  const rights = Promise.resolve({ exec: [], portForward: [] })
  const prepared = await prepareMirror(world, input, found, { original: API, given: [], rights })
  expect([prepared.runs, prepared.take.settings.command]).toEqual([runs, command])
})
