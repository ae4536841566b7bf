import { existsSync, mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeTemporaryFolder } from '../../../../adapters/files/temporary-folder.ts'
import { openTemporary } from '../../../../adapters/git/temporary.ts'
import { UserError } from '../../../../compiler/diagnostics/user-error.ts'

const base = mkdtempSync(join(tmpdir(), 'devctl-base-'))
writeFileSync(join(base, 'file'), '')

test('makeTemporaryFolder creates a folder that only this user can enter', () => {
  const folder = makeTemporaryFolder('devctl-x-', base)
  expect(folder.startsWith(join(base, 'devctl-x-'))).toBe(true)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
})

const expected = (path: string, reason: string) => ({
  message: `no temporary folder can be created in \`${path}\`: ${reason}`,
  hint: 'set TMPDIR to a folder that you may write to',
})

test.each([
  ['nothing', 'it does not exist'],
  ['file', 'it is not a folder'],
])('a folder for temporary files that is %s is an error that names TMPDIR', (name, reason) => {
  const path = join(base, name)
  for (const make of [() => makeTemporaryFolder('devctl-x-', path), () => openTemporary({ TMPDIR: path })]) {
    expect(make).toThrow(UserError)
    expect(make).toThrow(expect.objectContaining(expected(path, reason)))
  }
})

test('openTemporary creates a folder, and removes it', async () => {
  const { folder, remove } = openTemporary({ TMPDIR: base })
  expect(existsSync(folder)).toBe(true)
  await remove()
  expect(existsSync(folder)).toBe(false)
})
