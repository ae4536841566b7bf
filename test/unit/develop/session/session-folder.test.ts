import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { DEVELOPMENT_LABEL, MIRROR_LABEL, UP_ANNOTATION } from '../../../../constructs/mirror/names.ts'
import { knownDevelopments } from '../../../../develop/mirror/known-developments.ts'
import { sessionFolder } from '../../../../develop/session/session-folder.ts'
import type { OpenProject } from '../../../../project/opened-project.ts'
import type { OperationContext } from '../../../../project/session.ts'

const key = { server: 'https://cluster.example.com/', namespace: 'shop', dev: 'api' }
const WRONG = ['', '.', '..', '../..', 'a/b', 'a\\b', '/etc', 'C:', 'a\0b', 'Api']

test.each(WRONG)('%j is refused as the name of a development container and of a namespace', name => {
  expect(sessionFolder('/home', key)).toMatch(/^\/home\/develop\/[0-9a-f]{12}\/shop\/api$/)
  expect(() => sessionFolder('/home', { ...key, dev: name })).toThrow('cannot be the name of a development container')
  expect(() => sessionFolder('/home', { ...key, namespace: name })).toThrow('cannot be the name of a namespace')
})

test('knownDevelopments ignores mirrors with invalid names, which only the API server could write', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-known-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'project'))
  const cwd = join(folder, 'project')
  const mirror = (name: string): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'api-dev',
      labels: { [MIRROR_LABEL]: 'api', [DEVELOPMENT_LABEL]: name },
      annotations: {
        [UP_ANNOTATION]: JSON.stringify({
          ...{ version: 1, development: 'api', project: cwd, by: 'ann@laptop', since: '2026-01-01T00:00:00Z' },
          ...{ mirror: 'api-dev', before: [], owners: [] },
        }),
      },
    },
  })
  const world = {
    workspace: { env: { DEVCTL_HOME: folder }, cwd },
    session: {
      cluster: { list: async () => [...WRONG, 'api'].map(mirror) },
      access: { server: new URL(key.server) },
      namespace: key.namespace,
    },
  } as unknown as OperationContext
  const names = await knownDevelopments(world, { all: true }, {} as OpenProject, { one: false })
  expect(names).toEqual(['api'])
})
