import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { asWritten } from '../../../../../gitops/publish/compile/as-written.ts'
import { inputsFrom } from '../../../../../gitops/publish/compile/compile-for-repository.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'devctl-as-written-')))
afterAll(() => rmSync(root, { recursive: true }))
mkdirSync(join(root, 'src/.git'), { recursive: true })
mkdirSync(join(root, 'src/app'))
symlinkSync('src', join(root, 'link'))
symlinkSync('src/app', join(root, 'app'))

test.each([
  ['src', 'src', '.'],
  ['src', 'link', '.'],
  ['src', 'link/app', 'app'],
  ['src/app', 'link', '..'],
  ['link', 'src/app', 'app'],
  ['app', 'src/app', '.'],
  ['app', 'app', '.'],
  ['app', 'src', '..'],
  ['src', '.', 'devctl'],
])('asWritten names from the folder %s the folder %s as %s', (directory, path, expected) => {
  const places = { cwd: root, directory: join(root, directory) }
  const { projectDirectory } = asWritten({ projectDirectory: join(root, path) }, places)
  expect(projectDirectory?.replace(/^devctl-as-written-.*/, 'devctl')).toBe(expected)
})

test('inputsFrom names files by their paths in the repository, even if a link leads to them', () => {
  const inputs = new Map(['link/compose.yaml', 'src/app/a.yaml', 'other/b.yaml'].map(path => [join(root, path), path]))
  expect(inputsFrom(join(root, 'src'), inputs)).toEqual({
    'app/a.yaml': 'src/app/a.yaml',
    'compose.yaml': 'link/compose.yaml',
  })
})
