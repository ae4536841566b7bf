import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { candidatesOf } from '../../../operations/develop/candidates.ts'
import { developmentOf } from '../../../operations/develop/from-compose.ts'
import { ABOUT_OPTIONS, compileFiles } from '../../../operations/project/compile-files.ts'
import { createHost } from '../../../operations/project/node-host.ts'
import { openProject } from '../../../operations/project/open-project.ts'
import type { Workspace } from '../../../operations/workspace.ts'
import { root } from '../../cases.ts'

const examples = join(root, 'examples/develop')

async function compiled(example: string) {
  // Nothing else of it is used.
  const workspace = { cwd: join(examples, example), env: {} } as unknown as Workspace
  const project = await openProject(workspace, {})
  const { project: model, plan, diagnostics } = await compileFiles(workspace, [], {}, {}, { project })
  expect(diagnostics.filter(({ code, severity }) => severity !== 'info' && !ABOUT_OPTIONS.has(code))).toEqual([])
  return { model: model!, plan: plan!, manifest: 'manifest' in project ? project.manifest : undefined }
}

test('there is an example with a manifest for Node.js and for Python, and one without', () => {
  expect(readdirSync(examples).sort()).toEqual(['compose', 'node', 'python'])
})

test.each([
  ['node', 'api', ['sh', '-c', 'node --watch src/server.mjs'], [3000, 6379]],
  ['python', 'web', ['sh', '-c', 'flask --app app run --debug --host 0.0.0.0 --port 5000'], [5000]],
])('%s has a development container for its service', async (example, name, command, ports) => {
  const { model, manifest } = await compiled(example)
  const dev = manifest!.dev.get(name)!
  expect(model.services.has(name)).toBe(true)
  expect(dev.command).toEqual(command)
  expect(dev.sync?.folders).toMatchObject([{ local: '.', remote: '/app' }])
  expect(dev.forward.map(({ localPort }) => localPort)).toEqual(ports)
})

test('compose needs no manifest', async () => {
  const { model, plan, manifest } = await compiled('compose')
  expect(manifest).toBeUndefined()
  const host = createHost({ env: {} })
  const candidates = candidatesOf(model, host)
  expect(candidates.map(({ service }) => service.name)).toEqual(['web'])
  const { development, folders, actions } = developmentOf(candidates[0]!, model, plan, host)
  const folder = join(examples, 'compose')
  expect(folders.map(({ local, remote, direction }) => [local, remote, direction])).toEqual([
    [join(folder, 'src'), '/app/src', 'both'],
    [folder, '/app', 'up'],
  ])
  expect(development.forward.map(({ localPort, remotePort }) => [localPort, remotePort])).toEqual([[8080, 8080]])
  expect(actions.map(({ action }) => action)).toEqual(['rebuild', 'sync+restart'])
})
