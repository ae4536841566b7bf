import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findSource } from '../../../../containers/copy/copy-in.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'devctl-copy-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
mkdirSync(join(folder, 'src'))
writeFileSync(join(folder, 'file'), '')
symlinkSync('src', join(folder, 'link'))
symlinkSync('nothing', join(folder, 'broken'))

test.skipIf(process.platform === 'win32').each([
  ['link', 'link'],
  ['link/', 'src'],
  ['link/.', 'src'],
  ['link/./', 'src'],
  ['src/.', 'src'],
  ['file', 'file'],
  ['broken', 'broken'],
])('the source `%s` of a copy is `%s`', async (source, expected) => {
  const { path, isContent } = await findSource(source, join(folder, source.replace(/[/.]+$/, '')))
  expect(path).toBe(join(folder, expected))
  expect(isContent).toBe(source.includes('/.'))
})

test.each(['missing', 'missing/.', 'broken/'])('the source `%s` of a copy does not exist', async source => {
  const found = findSource(source, join(folder, source.replace(/[/.]+$/, '')))
  await expect(found).rejects.toThrow(`\`${source}\` does not exist on this machine`)
})
