import { expect, test } from 'vitest'
import { linkProblem, nameKey, pathProblem } from '../../../../sync/core/paths.ts'

const linux = { windows: false, foldsCase: false }
const windows = { windows: true, foldsCase: true }

test.each([
  ['', 'empty'],
  ['../x', 'leads out'],
  ['a/../../x', 'leads out'],
  ['a//b', 'leads out'],
  ['./a', 'leads out'],
  ['a/', 'leads out'],
  ['/etc/passwd', 'absolute'],
  ['a\0b', 'NUL'],
  [`${'x'.repeat(256)}/a`, 'longer than 255 bytes'],
  ['x/'.repeat(2100), 'too long'],
  ['.git', '.git'],
  ['.git/hooks/pre-commit', '.git'],
  ['module/.git/config', '.git'],
  ['.GIT/config', '.git'],
  ['.g\u200cit/config', '.git'],
  ['git~1/config', '.git'],
  ['.git /config', '.git'],
  ['.git./config', '.git'],
  ['.git::$INDEX_ALLOCATION/config', '.git'],
  ['.hg/hgrc', '`.hg`'],
  ['web/.HG/hgrc', '`.hg`'],
  ['.jj/repo/config.toml', '`.jj`'],
  ['.sl/config', '`.sl`'],
])('pathProblem refuses %j from the container', (path, problem) => {
  expect(pathProblem(path, linux)).toContain(problem)
})

test.each([
  'a',
  'src/index.ts',
  '.gitignore',
  '.hgignore',
  'hg/x',
  '.slugignore',
  '.github/workflows/ci.yml',
  'aux.c',
  'con',
  'a\\b',
  'x:y',
  '...',
  'ü/ñ',
])('pathProblem accepts %j from the container', path => {
  expect(pathProblem(path, linux)).toBeUndefined()
})

test.each([
  ['con', 'device'],
  ['src/aux.c', 'device'],
  ['NUL.txt', 'device'],
  ['com1', 'device'],
  ['lpt9.log', 'device'],
  ['a\\..\\..\\b', 'does not allow'],
  ['c:\\x', 'does not allow'],
  ['file:stream', 'does not allow'],
  ['name.', 'does not allow'],
  ['name ', 'does not allow'],
])('pathProblem refuses %j on Windows', (path, problem) => {
  expect(pathProblem(path, windows)).toContain(problem)
})

test.each([
  ['a', '/etc/passwd'],
  ['a', '\\\\server\\share'],
  ['a', 'C:\\Users'],
  ['a', '../x'],
  ['d/e', '../../x'],
  ['d/e', 'x/../../../y'],
  ['d/e', 'link/..'],
  ['d/e', '../link/../..'],
  ['d/e', '../.git/hooks'],
  ['a', ''],
  ['a', 'x\0y'],
])('linkProblem refuses a link %s to %j', (path, target) => {
  expect(linkProblem(path, target)).toBeDefined()
})

test.each([
  ['a', 'b'],
  ['d/e', '../x'],
  ['node_modules/.bin/tsc', '../typescript/bin/tsc'],
])('linkProblem accepts a link %s to %j', (path, target) => {
  expect(linkProblem(path, target)).toBeUndefined()
})

test('nameKey is equal for names that a file system does not distinguish', () => {
  expect(nameKey('e\u0301', linux)).toBe(nameKey('\u00e9', linux))
  expect(nameKey('Readme', linux)).not.toBe(nameKey('README', linux))
  expect(nameKey('Readme', windows)).toBe(nameKey('README', windows))
})
