import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lstatIfFound, statIfFound } from '../../../../adapters/files/stat-if-found.ts'

const folder = mkdtempSync(join(tmpdir(), 'devctl-stat-'))
const at = (path: string) => join(folder, path)
writeFileSync(at('file'), '1')
symlinkSync('file', at('link'))
symlinkSync('loop', at('loop'))
symlinkSync('nothing', at('broken'))

test('statIfFound follows links, and lstatIfFound does not', () => {
  expect([statIfFound(at('link'))?.isFile(), lstatIfFound(at('link'))?.isSymbolicLink()]).toEqual([true, true])
  expect([statIfFound(folder)?.isDirectory(), lstatIfFound(folder)?.isDirectory()]).toEqual([true, true])
})

test.each([
  ['does not exist', 'nothing'],
  ['is below a file', 'file/x'],
  ['is below a file that does not exist', 'nothing/x'],
  ['is below a link to itself', 'loop/x'],
  ['has a name that is too long', 'x'.repeat(300)],
  ['has a NUL in its name', 'a\0b'],
])('there are no stats of a path that %s', (_, path) => {
  expect([statIfFound(at(path)), lstatIfFound(at(path))]).toEqual([undefined, undefined])
})

test.each(['loop', 'broken'])('statIfFound returns nothing for a link that leads nowhere: %s', path => {
  expect(statIfFound(at(path))).toBeUndefined()
})
