import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ignoreSource } from '../../../../sync/scan/ignore-source.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devctl-ignores-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test.each([
  ['a line that is no pattern', () => writeFileSync(join(folder, '.stignore'), 'a\n{secret.txt\n'), 'line 2: '],
  ['a link', () => symlinkSync('other', join(folder, '.stignore')), 'is a link'],
  ['too many patterns', () => writeFileSync(join(folder, '.stignore'), 'a\n'.repeat(600_000)), 'larger than 1 MiB'],
])('an ignore file with %s has no rules', (_, make, words) => {
  writeFileSync(join(folder, 'other'), 'a')
  make()
  expect(() => ignoreSource(folder)).toThrow(words)
})

test('the rules of an ignore file without mistakes are its text, and without one the default rules apply', () => {
  expect(ignoreSource(folder).text).toBeUndefined()
  writeFileSync(join(folder, '.stignore'), 'a\n')
  expect(ignoreSource(folder).text).toBe('a\n')
})
