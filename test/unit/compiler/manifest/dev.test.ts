import { expect, test } from 'vitest'
import { readManifest } from '../../../../compiler/manifest/read.ts'
import { createHost } from '../../../../project/node-host.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

function read(manifest: string) {
  const folder = makeFolder({ 'devctl.yml': manifest })
  return readManifest({ path: `${folder}/devctl.yml`, workingDirectory: folder }, createHost({ env: {} }))
}

test.each([
  ['bash', ['bash']],
  ['"bash\\n"', ['bash']],
  ['"  bash "', ['bash']],
  ['npm start', ['sh', '-c', 'npm start']],
  ['"make\\nrun\\n"', ['sh', '-c', 'make\nrun']],
  ['"make\\trun"', ['sh', '-c', 'make\trun']],
  ['[npm, " start"]', ['npm', ' start']],
  ['""', undefined],
  ['" \\n"', undefined],
])('the command %s of a development container runs %j', (written, expected) => {
  const text = `{sync: [.:/app], command: ${written}, args: ${written}, lifecycle: {postStart: {command: ${written}}}}`
  const { command, args, lifecycle } = read(`dev: {api: ${text}}\n`).manifest!.dev.get('api')!
  expect([command, args, lifecycle.postStart.command]).toEqual([expected, expected, expected])
})

test('a warning about a development container names its key in the file', () => {
  const { diagnostics } = read('dev: {api: {mode: hybrid, name: backend, image: x}}\n')
  expect(diagnostics.map(({ message }) => message)).toEqual(['`image` of `dev.api` has no effect with `mode: hybrid`'])
})
