import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { write } from '../../support/cli/folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'devctl-compiled-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A program in the form that scripts/bundle.mjs writes, which prints nothing. */
const PROGRAM = '/* build abc */ (function (exports) { exports.start = () => {} })'

test.each([
  ['the version of Node that runs', `${process.version}.cache`, false],
  // V8 takes code of another version of Node with the same version of V8, and may crash.
  ['another version of Node', 'v20.0.1.cache', true],
])('the code that a build has compiled is used by that version only: built by %s', (_, marker, isKept) => {
  const clone = mkdtempSync(join(folder, 'clone-'))
  const home = mkdtempSync(join(folder, 'home-'))
  write(clone, { 'dist/bin/devctl.cjs': PROGRAM, 'dist/bin/start.pack.cache': '', [`dist/bin/${marker}`]: '' })
  cpSync(join(root, 'bin/devctl.cjs'), join(clone, 'bin/devctl.cjs'))
  const env = { HOME: home, XDG_CACHE_HOME: join(home, 'cache') }
  const { status, stderr } = spawnSync(process.execPath, [join(clone, 'bin/devctl.cjs')], { env, encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
  // Otherwise, the code is compiled, and kept for this version.
  expect(existsSync(join(home, 'cache/devctl/code'))).toBe(isKept)
})
