import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { composeDevelopment } from '../../../develop/select/compose-development.ts'
import { ABOUT_OPTIONS, compileFiles } from '../../../project/compile-files.ts'
import { openProject } from '../../../project/open-project.ts'
import type { Workspace } from '../../../project/workspace.ts'
import { root } from '../../support/cases.ts'
import { makeFolder } from '../../support/cli/folder.ts'

const examples = join(root, 'examples/develop')

async function compiled(example: string) {
  // Only these fields of a workspace are used.
  const workspace = { cwd: join(examples, example), env: {} } as unknown as Workspace
  const project = await openProject(workspace, {})
  const { project: model, plan, diagnostics } = await compileFiles(workspace, [], {}, {}, { project })
  expect(diagnostics.filter(({ code, severity }) => severity !== 'info' && !ABOUT_OPTIONS.has(code))).toEqual([])
  return { model: model!, plan: plan!, manifest: 'manifest' in project ? project.manifest : undefined }
}

test('the folder of development examples has Compose, Node.js and Python', () => {
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

test('the Compose example needs no manifest', async () => {
  const workspace = { cwd: join(examples, 'compose'), env: {} } as unknown as Workspace
  const project = await openProject(workspace, {})
  expect('manifest' in project ? project.manifest : undefined).toBeUndefined()
  const found = await composeDevelopment(workspace, {}, project, { service: undefined, choose: undefined })
  if (found.kind === 'refused') throw new Error(JSON.stringify(found.diagnostics))
  const { development, folders, actions, folder, runsService } = found
  expect([development.name, folder, runsService]).toEqual(['web', workspace.cwd, true])
  expect(folders.map(({ local, remote, direction }) => [local, remote, direction])).toEqual([
    [join(folder, 'src'), '/app/src', 'both'],
    [folder, '/app', 'up'],
  ])
  expect(development.forward.map(({ localPort, remotePort }) => [localPort, remotePort])).toEqual([[8080, 8080]])
  expect(actions.map(({ action }) => action)).toEqual(['rebuild', 'sync+restart'])
})

/**
 * Returns the remote folders that files, and the development container of a manifest, result in; otherwise the message
 * of the error, or the codes of the diagnostics.
 */
async function found(files: Readonly<Record<string, string>>, declared?: string, service?: string) {
  const workspace = { cwd: makeFolder(files), env: {} } as unknown as Workspace
  const project = await openProject(workspace, {})
  const dev = declared === undefined ? undefined : project.manifest!.dev.get(declared)!
  const which = dev ? { declared: dev } : { service, choose: undefined }
  const one = await composeDevelopment(workspace, {}, project, which).catch((error: unknown) => {
    if (error instanceof UserError) return { kind: 'error' as const, message: error.message }
    throw error
  })
  if (one.kind === 'found') return one.folders.map(({ remote }) => remote)
  return one.kind === 'error' ? one.message : one.diagnostics.map(({ code }) => code)
}

const SERVICE = 'services: {web: {build: ., volumes: [".:/app"]}}\n'

test('`dev` without `sync` uses the folders of the Compose file, which must exist', async () => {
  const dev = 'dev: {web: {command: bash}}\n'
  expect(await found({ 'compose.yaml': SERVICE, Dockerfile: '', 'devctl.yml': dev }, 'web')).toEqual(['/app'])
  const chart = { 'devctl.yml': `deploy: [helm upgrade web chart]\n${dev}` }
  expect(await found(chart, 'web')).toBe('development container `web` has no `sync`, and there is no Compose file')
})

test('composeDevelopment reports files with errors and files without a service to develop', async () => {
  const wrong = SERVICE.replace('.:/app', '.:app')
  expect(await found({ 'compose.yaml': wrong, Dockerfile: '' })).toEqual(expect.arrayContaining([expect.any(String)]))
  expect(await found({ 'compose.yaml': 'services: {db: {image: postgres}}\n' })).toBe(
    'no service has a folder of this machine to work on',
  )
})

test('errors of another service do not prevent development, errors of the service itself do', async () => {
  const files = (web: string, worker: string) => ({
    'compose.yaml': `services:\n  web: {build: ., volumes: [".:/app"], ${web}}\n  worker: {build: ., volumes: [".:/work"], ${worker}}\n`,
    Dockerfile: '',
  })
  const wrong = 'ports: ["99999:99999"]'
  const right = 'ports: ["80:80"]'
  expect(await found(files(wrong, right), undefined, 'worker')).toEqual(['/work'])
  expect(await found(files(right, wrong), undefined, 'worker')).toContain('ports/bad-short-form')
  expect(await found(files(wrong, right), undefined, 'none')).toContain('ports/bad-short-form')
  const manifest = { ...files(wrong, right), 'devctl.yml': 'dev: {worker: {command: bash}}\n' }
  expect(await found(manifest, 'worker')).toEqual(['/work'])
})
