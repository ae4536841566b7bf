import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type HostContent, hostReader } from '../../../compiler/plan/storage/host-content.ts'
import { createCheckouts } from '../../../project/hashes/checkout.ts'
import { createHost } from '../../../project/node-host.ts'

let root: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'devctl-checkout-')))
})
afterEach(() => rmSync(root, { recursive: true }))

const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'protocol.file.allow=always']

function git(folder: string, ...words: string[]): void {
  execFileSync('git', ['-C', join(root, folder), ...identity, ...words], { env, stdio: ['ignore', 'ignore', 'pipe'] })
}

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

function commit(folder: string): void {
  git(folder, 'init', '--quiet')
  git(folder, 'add', '--all')
  git(folder, 'commit', '--quiet', '-m', 'all')
}

/** Reads the content of a path of the project `root/project`. */
const read = (path: string, more: Readonly<Record<string, string>> = {}): HostContent =>
  hostReader(createHost({ env: { ...env, ...more } }), join(root, 'project')).read(
    join(root, 'project', path),
    () => true,
  )

function textsOf(content: HostContent): Readonly<Record<string, string>> | string {
  if (content.kind !== 'files') return content.kind
  return Object.fromEntries(content.files.map(({ path, bytes }) => [path, new TextDecoder().decode(bytes)]))
}

test('names with blanks, quotes, line ends and accents are read unchanged', () => {
  write({ 'project/conf/a "b"\n.txt': '1', 'project/conf/näh 雪.txt': '2' })
  commit('project')
  expect(textsOf(read('conf'))).toEqual({ 'a "b"\n.txt': '1', 'näh 雪.txt': '2' })
})

test('staged files are read, and untracked files are left out', () => {
  write({ 'project/compose.yaml': '', 'project/conf/a': '1', 'project/conf/b': '2', 'project/conf/c': '3' })
  git('project', 'init', '--quiet')
  git('project', 'add', 'compose.yaml', 'conf/a')
  git('project', 'add', '--intent-to-add', 'conf/b')
  expect(read('conf')).toMatchObject({ files: [{ path: 'a' }, { path: 'b' }], leftOut: ['c'], isTracked: true })
})

test('uncommitted changes are read, but the file mode is that of the index', () => {
  write({ 'project/conf/run.sh': '1', 'project/conf/text': '1' })
  chmodSync(join(root, 'project/conf/run.sh'), 0o755)
  commit('project')
  write({ 'project/conf/run.sh': '2' })
  chmodSync(join(root, 'project/conf/run.sh'), 0o644)
  chmodSync(join(root, 'project/conf/text'), 0o755)
  expect(read('conf')).toMatchObject({ files: [{ executable: true }, { executable: false }] })
  expect(textsOf(read('conf'))).toMatchObject({ 'run.sh': '2' })
})

describe('links', () => {
  test('links to tracked files and folders are followed', () => {
    write({ 'project/conf/a': '1', 'project/shared/b': '2' })
    symlinkSync('../shared', join(root, 'project/conf/shared'))
    symlinkSync('a', join(root, 'project/conf/again'))
    symlinkSync('conf', join(root, 'project/link'))
    commit('project')
    const expected = { a: '1', again: '1', 'shared/b': '2' }
    expect([textsOf(read('conf')), textsOf(read('link'))]).toEqual([expected, expected])
    expect(textsOf(read('link/shared/b'))).toEqual({ b: '2' })
  })

  test('links to untracked files, to missing files and in a cycle are left out', () => {
    write({ 'project/conf/a': '1', 'outside/secret': 's' })
    symlinkSync('../../outside/secret', join(root, 'project/conf/out'))
    symlinkSync('nowhere', join(root, 'project/conf/dangling'))
    symlinkSync('.', join(root, 'project/conf/loop'))
    commit('project')
    expect(read('conf')).toMatchObject({ files: [{ path: 'a' }], leftOut: ['out'], gone: ['conf/dangling'] })
  })

  test('links that git does not track are data', () => {
    write({ 'project/compose.yaml': '', 'outside/big': 's' })
    commit('project')
    symlinkSync('../outside', join(root, 'project/data'))
    expect(read('data')).toEqual({ kind: 'data', state: 'untracked' })
  })
})

test('a submodule is its own checkout, and a missing submodule is reported', () => {
  write({ 'library/theme.css': 'c', 'project/compose.yaml': '' })
  commit('library')
  commit('project')
  git('project', 'submodule', 'add', '--quiet', join(root, 'library'), 'theme')
  write({ 'project/theme/local.css': 'x' })
  expect(textsOf(read('theme'))).toEqual({ 'theme.css': 'c' })
  expect(textsOf(read('.'))).toMatchObject({ 'theme/theme.css': 'c' })
  git('project', 'submodule', 'deinit', '--quiet', '--force', 'theme')
  expect(read('theme')).toEqual({ kind: 'gone', path: 'theme', why: 'submodule' })
})

test('a file outside of a sparse checkout is reported', () => {
  write({ 'project/compose.yaml': '', 'project/conf/a': '1', 'project/web/b': '2' })
  commit('project')
  git('project', 'sparse-checkout', 'set', 'web')
  expect(read('conf')).toEqual({ kind: 'gone', path: 'conf/a', why: 'sparse' })
  expect(textsOf(read('web'))).toEqual({ b: '2' })
})

test('a linked worktree has its own index', () => {
  write({ 'main/compose.yaml': '', 'main/conf/a': '1' })
  commit('main')
  git('main', 'worktree', 'add', '--quiet', join(root, 'project'))
  write({ 'project/conf/b': '2' })
  expect(textsOf(read('conf'))).toEqual({ a: '1' })
})

test('the innermost checkout is used, even in an ignored folder of another one', () => {
  write({ 'outer/.gitignore': '*', 'project/compose.yaml': '', 'project/conf/a': '1' })
  commit('project')
  git('.', 'init', '--quiet')
  expect(textsOf(read('conf'))).toEqual({ a: '1' })
})

test('a checkout that tracks no file of the project is ignored', () => {
  write({ 'other/a': '1', 'project/conf/a': '1' })
  git('.', 'init', '--quiet')
  git('.', 'add', 'other')
  expect(read('conf')).toMatchObject({ files: [{ path: 'a' }], isTracked: false })
})

test('a .git folder that is not a repository is ignored', () => {
  write({ 'project/compose.yaml': '', 'project/conf/a': '1' })
  commit('.')
  mkdirSync(join(root, 'project/.git'))
  expect(read('conf')).toMatchObject({ files: [{ path: 'a' }], isTracked: true })
})

test('programs and the work tree in the git configuration are ignored', () => {
  write({ 'project/compose.yaml': '', 'project/conf/a': '1', 'evil.sh': `#!/bin/sh\ntouch ${root}/ran\n` })
  commit('project')
  chmodSync(join(root, 'evil.sh'), 0o755)
  for (const key of ['core.fsmonitor', 'core.sshCommand', 'core.pager'])
    git('project', 'config', key, join(root, 'evil.sh'))
  git('project', 'config', 'core.hooksPath', root)
  git('project', 'config', 'core.worktree', join(root, 'elsewhere'))
  expect(textsOf(read('conf'))).toEqual({ a: '1' })
  expect(createHost({ env }).stat(join(root, 'ran'))).toBeUndefined()
})

test('git variables of a surrounding hook are ignored', () => {
  write({ 'project/compose.yaml': '', 'project/conf/a': '1', 'other/b': '' })
  commit('project')
  commit('other')
  expect(textsOf(read('conf', { GIT_DIR: join(root, 'other/.git'), GIT_INDEX_FILE: '/none' }))).toEqual({ a: '1' })
})

test('a failure of git is reported', () => {
  write({ 'project/compose.yaml': '' })
  commit('project')
  const checkoutOf = (path: string) => createCheckouts({ ...env, PATH: path })(join(root, 'project'))
  expect(checkoutOf('/nonexistent')).toMatchObject({ files: [], failure: 'git is not installed' })
  writeFileSync(join(root, 'project/.git/index'), 'broken')
  expect(checkoutOf(env.PATH!)).toMatchObject({ files: [], failure: expect.stringContaining('index') })
})

test('git is asked once for each checkout', () => {
  write({ 'project/compose.yaml': '', 'project/a/x': '', 'project/b/y': '' })
  commit('project')
  const checkoutOf = createCheckouts(env)
  expect(checkoutOf(join(root, 'project/a'))).toBe(checkoutOf(join(root, 'project/b/none')))
})
