import { chmodSync, chownSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { replaceFile } from '../../../../adapters/files/replace-file.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

test('replaceFile puts a new file in the place of the old one and keeps the mode', async () => {
  const folder = makeFolder({ 'images.json': 'old' })
  const file = join(folder, 'images.json')
  chmodSync(file, 0o640)
  const { ino } = statSync(file)
  await replaceFile(file, 'new')
  expect(readFileSync(file, 'utf8')).toBe('new')
  expect(statSync(file).ino).not.toBe(ino)
  expect(statSync(file).mode & 0o777).toBe(0o640)
  expect(readdirSync(folder)).toEqual(['images.json'])
})

test.each([
  ['a group may write', 0o664, 0o022],
  ['others may read', 0o644, 0o077],
])('a file that %s keeps its mode whatever the umask is', async (_, mode, umask) => {
  const file = join(makeFolder({ 'images.json': 'old' }), 'images.json')
  chmodSync(file, mode)
  const before = process.umask(umask)
  try {
    await replaceFile(file, 'new')
  } finally {
    process.umask(before)
  }
  expect(statSync(file).mode & 0o777).toBe(mode)
})

test.runIf(process.getuid?.() === 0)('root leaves a file to its owner', async () => {
  const file = join(makeFolder({ 'images.json': 'old' }), 'images.json')
  chownSync(file, 1000, 1000)
  await replaceFile(file, 'new')
  expect(statSync(file)).toMatchObject({ uid: 1000, gid: 1000 })
})

test('a new file has the mode that the umask leaves', async () => {
  const folder = makeFolder({})
  writeFileSync(join(folder, 'plain'), '')
  await replaceFile(join(folder, 'images.json'), 'new')
  expect(statSync(join(folder, 'images.json')).mode).toBe(statSync(join(folder, 'plain')).mode)
})

test('the target of a link is replaced, not the link', async () => {
  const folder = makeFolder({ 'real/images.json': 'old' })
  symlinkSync('real/images.json', join(folder, 'link'))
  await replaceFile(join(folder, 'link'), 'new')
  expect(readFileSync(join(folder, 'real/images.json'), 'utf8')).toBe('new')
  expect(readdirSync(folder).sort()).toEqual(['link', 'real'])
})

test('a device is written, not replaced', async () => {
  await replaceFile('/dev/null', 'new')
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true)
})

test('a folder that does not exist is an error', async () => {
  await expect(replaceFile(join(makeFolder({}), 'no/images.json'), 'new')).rejects.toMatchObject({ code: 'ENOENT' })
})
