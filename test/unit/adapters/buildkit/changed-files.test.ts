import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { walk } from '../../../../adapters/buildkit/files/walk.ts'
import { hashBuild } from '../../../../project/hashes/build-hash.ts'
import { changeFinder } from '../../../../project/hashes/hashed-files.ts'

const work = mkdtempSync(join(tmpdir(), 'devctl-changed-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

let count = 0
let root = ''
const at = (path: string) => join(root, path)

beforeEach(() => {
  root = join(work, String(count++))
  mkdirSync(at('src/deep'), { recursive: true })
  mkdirSync(at('ignored'))
  for (const path of ['Dockerfile', 'src/a', 'src/deep/b', 'ignored/c']) writeFileSync(at(path), `text of ${path}`)
  writeFileSync(at('.dockerignore'), 'ignored\n*.log\n')
  symlinkSync('a', at('src/link'))
  hashBuild({ context: root, args: [] })
})

const send = (folder = root) => [...walk(folder, { exclude: ['ignored', '*.log'] }, changeFinder(folder))].length

test.each<readonly [string, () => void]>([
  ['nothing', () => {}],
  ['the content of an ignored file', () => writeFileSync(at('ignored/c'), 'other')],
  ['a new file that is ignored', () => writeFileSync(at('new.log'), '')],
  ['the time of a file', () => utimesSync(at('src/a'), 1, 1)],
  ['a file, for the same content', () => writeFileSync(at('src/a'), readFileSync(at('src/a')))],
  ['permissions that are not in the hash', () => chmodSync(at('src/a'), 0o600)],
])('changeFinder accepts a change of %s', (_, change) => {
  change()
  expect(send()).toBeGreaterThan(5)
  expect(send()).toBeGreaterThan(5)
})

test.each<readonly [string, () => void]>([
  ['a file', () => writeFileSync(at('src/deep/b'), 'other')],
  [
    'a file that keeps its size and times',
    () => {
      writeFileSync(at('src/a'), 'TEXT of src/a')
      utimesSync(at('src/a'), 1, 1)
    },
  ],
  ['the Dockerfile', () => writeFileSync(at('Dockerfile'), 'FROM other')],
  ['the ignore file', () => writeFileSync(at('.dockerignore'), '')],
  ['a new file', () => writeFileSync(at('src/deep/new'), '')],
  ['a new file in the context itself', () => writeFileSync(at('new'), '')],
  ['a file that is removed', () => rmSync(at('src/deep/b'))],
  ['a folder that is removed', () => rmSync(at('src/deep'), { recursive: true })],
  [
    'the target of a link',
    () => {
      rmSync(at('src/link'))
      symlinkSync('deep', at('src/link'))
    },
  ],
  ['what may be executed', () => chmodSync(at('src/a'), 0o755)],
])('changeFinder refuses a change of %s', (_, change) => {
  change()
  expect(() => send()).toThrow('changed during the build')
})

test('changeFinder refuses a changed Dockerfile outside of the context', () => {
  hashBuild({ context: at('src'), dockerfile: '../Dockerfile', args: [] })
  writeFileSync(at('Dockerfile'), 'FROM other')
  expect(() => send()).toThrow('Dockerfile changed during the build')
})

test('changeFinder compares with the last hash', () => {
  writeFileSync(at('src/a'), 'other')
  expect(() => send()).toThrow('src/a changed during the build')
  hashBuild({ context: root, args: [] })
  expect(send()).toBeGreaterThan(5)
})

test('changeFinder knows only folders that were hashed', () => expect(changeFinder(tmpdir())).toBeUndefined())
