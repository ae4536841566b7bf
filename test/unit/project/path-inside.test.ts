import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { resolveLinks } from '../../../adapters/files/real-path.ts'
import { pathInside } from '../../../project/path-inside.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'devctl-real-path-')))
afterAll(() => rmSync(root, { recursive: true }))
mkdirSync(join(root, 'src/app'), { recursive: true })
writeFileSync(join(root, 'src/app/file'), '')
symlinkSync('src', join(root, 'link'))
symlinkSync('app', join(root, 'src/again'))

test.each([
  ['src', 'src/app/file', 'app/file'],
  ['src', 'link/app/file', 'app/file'],
  ['link', 'src/app/file', 'app/file'],
  ['src', 'link/missing/file', 'missing/file'],
  ['src', 'link', ''],
  // The text leads to a file of the folder already.
  ['src', 'src/again/file', 'again/file'],
  ['src/app', 'src/other', undefined],
  ['src/app', 'link', undefined],
  ['src', '.', undefined],
  ['src', 'src/..env', '..env'],
])('pathInside finds in %s the path %s as %s', (folder, path, expected) => {
  expect(pathInside(join(root, folder), join(root, path))).toBe(expected)
})

test.each([
  ['link/app/file', 'src/app/file'],
  ['link/missing/file', 'src/missing/file'],
  ['missing/link', 'missing/link'],
])('resolveLinks resolves %s to %s', (path, expected) => {
  expect(resolveLinks(join(root, path))).toBe(join(root, expected))
})
