import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { renewImage } from '../../../agent/renew-image.ts'
import { nodeDisk } from '../../../sync/stage/disk.ts'
import { SyncVolume } from '../../../sync/stage/volume.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'devctl-renew-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const FOLDER = { name: '0', path: 'src/0' }
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}
const app = (path: string) =>
  existsSync(join(root, 'src/0', path)) ? readFileSync(join(root, 'src/0', path), 'utf8') : undefined

/**
 * Fills the folder as the container of the image does; `image` is what the agent found before the first
 * synchronization.
 */
async function filled(files: Readonly<Record<string, string>>, image: readonly string[]): Promise<SyncVolume> {
  for (const [path, text] of Object.entries(files)) write(`src/0/${path}`, text)
  const volume = new SyncVolume(nodeDisk, root)
  write('.devctl/filled-0', 'app:1')
  const entries = image.map(path => [path, nodeDisk.entry(join(root, 'src/0', path))] as const)
  volume.setImageEntries(
    '0',
    new Map(entries.flatMap(([path, one]) => (one && one !== 'other' ? [[path, one] as const] : []))),
  )
  volume.setUnsyncedFolders('0', ['node_modules'])
  await tick()
  return volume
}

/** Waits until the clock of the file system has advanced. */
async function tick(): Promise<void> {
  const before = nodeDisk.entry(join(root, '.devctl/filled-0'))
  for (;;) {
    await sleep(5)
    write('.devctl/tick', '')
    const now = nodeDisk.entry(join(root, '.devctl/tick'))
    if (now && before && now !== 'other' && before !== 'other' && now.ctime > before.ctime) return
  }
}

function another(name: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(join(root, '.devctl/new-0'), { recursive: true })
  for (const [path, text] of Object.entries(files)) write(`.devctl/new-0/${path}`, text)
  write('.devctl/new-0.image', name)
}

test('renewImage takes unchanged files from the new image and keeps all others', async () => {
  const volume = await filled(
    {
      'dist/a.js': '1',
      'dist/old.js': '1',
      'src/b.js': '1',
      'gone.txt': '1',
      'node_modules/x/i.js': '1',
      'node_modules/old/i.js': '1',
    },
    ['dist', 'dist/a.js', 'dist/old.js', 'src', 'src/b.js', 'gone.txt'],
  )
  write('src/0/src/b.js', 'of the laptop')
  write('src/0/mine.txt', 'mine')
  write('src/0/node_modules/mine/i.js', 'mine')
  rmSync(join(root, 'src/0/gone.txt'))
  another('app:2', {
    'dist/a.js': '2',
    'dist/new.js': '2',
    'src/b.js': '2',
    'gone.txt': '2',
    'mine.txt': '2',
    'node_modules/x/i.js': '2',
    'node_modules/y/i.js': '2',
  })
  renewImage(root, FOLDER)
  expect(['dist/a.js', 'dist/new.js', 'dist/old.js', 'src/b.js', 'mine.txt', 'gone.txt'].map(app)).toEqual([
    '2',
    '2',
    '1',
    'of the laptop',
    'mine',
    undefined,
  ])
  expect(['x', 'y', 'old', 'mine'].map(name => app(`node_modules/${name}/i.js`))).toEqual(['2', '2', undefined, 'mine'])
  expect(existsSync(join(root, 'src/0/node_modules/old'))).toBe(false)
  // The laptop learns that these files come from the image; nothing of node_modules is reported.
  const entries = volume.imageEntries('0')!
  expect(entries.get('dist/new.js')).toEqual(nodeDisk.entry(join(root, 'src/0/dist/new.js')))
  expect([...entries.keys()].some(path => path.startsWith('node_modules/'))).toBe(false)
  expect(readFileSync(join(root, '.devctl/filled-0'), 'utf8')).toBe('app:2')
  expect(existsSync(join(root, '.devctl/new-0'))).toBe(false)
})

test('renewImage keeps a file that was changed before the second image with the third, too', async () => {
  await filled({ 'a.js': '1', 'b.js': '1' }, ['a.js', 'b.js'])
  write('src/0/b.js', 'mine')
  another('app:2', { 'a.js': '2', 'b.js': '2' })
  renewImage(root, FOLDER)
  await tick()
  another('app:3', { 'a.js': '3', 'b.js': '3' })
  renewImage(root, FOLDER)
  expect([app('a.js'), app('b.js')]).toEqual(['3', 'mine'])
})

test('renewImage completes the work of an agent that was killed', async () => {
  await filled({ 'a.js': '1', 'b.js': '1', 'c.js': '1' }, ['a.js', 'b.js', 'c.js'])
  write('src/0/c.js', 'mine')
  another('app:2', { 'a.js': '2', 'b.js': '2', 'c.js': '2' })
  // The record cannot be moved to `kept-0`: as if the agent had been killed before that step.
  mkdirSync(join(root, '.devctl/kept-0/in-the-way'), { recursive: true })
  expect(() => renewImage(root, FOLDER)).toThrow()
  rmSync(join(root, '.devctl/kept-0'), { recursive: true })
  await tick()
  another('app:2', { 'a.js': '2', 'b.js': '2', 'c.js': '2' })
  renewImage(root, FOLDER)
  expect(['a.js', 'b.js', 'c.js'].map(app)).toEqual(['2', '2', 'mine'])
  await tick()
  another('app:3', { 'a.js': '3', 'b.js': '3', 'c.js': '3' })
  renewImage(root, FOLDER)
  expect(['a.js', 'b.js', 'c.js'].map(app)).toEqual(['3', '3', 'mine'])
})

/** Runs `renewImage` with a folder in the way of a file that it writes, as if the agent were killed at that step. */
async function killedAt(file: string): Promise<void> {
  mkdirSync(join(root, '.devctl', file, 'in-the-way'), { recursive: true })
  expect(() => renewImage(root, FOLDER)).toThrow()
  rmSync(join(root, '.devctl', file), { recursive: true })
  await tick()
}

test('renewImage keeps what a killed agent has already brought to folders that are not synchronized', async () => {
  const volume = await filled({ 'a.js': '1', 'node_modules/x/i.js': '1', 'node_modules/old/i.js': '1' }, ['a.js'])
  another('app:2', { 'a.js': '2', 'node_modules/x/i.js': '2' })
  await killedAt('kept-0')
  renewImage(root, FOLDER)
  expect(['a.js', 'node_modules/x/i.js', 'node_modules/old/i.js'].map(app)).toEqual(['2', '2', undefined])
  expect(volume.imageEntries('0')?.get('a.js')).toEqual(nodeDisk.entry(join(root, 'src/0/a.js')))
})

test('renewImage records files that a killed agent has brought as files of the image', async () => {
  const volume = await filled({ 'a.js': '1', 'b.js': '1' }, ['a.js', 'b.js'])
  write('src/0/b.js', 'mine')
  another('app:2', { 'a.js': '2', 'b.js': '2' })
  await killedAt('image-0.new')
  renewImage(root, FOLDER)
  expect(volume.imageEntries('0')?.get('a.js')).toEqual(nodeDisk.entry(join(root, 'src/0/a.js')))
  expect(volume.imageEntries('0')?.get('b.js')).not.toEqual(nodeDisk.entry(join(root, 'src/0/b.js')))
})

test('renewImage deletes what a third image lacks after an agent was killed with the second', async () => {
  await filled({ 'node_modules/x/i.js': '1' }, [])
  another('app:2', { 'node_modules/x/i.js': '2', 'node_modules/y/i.js': '2' })
  await killedAt('kept-0')
  rmSync(join(root, '.devctl/new-0'), { recursive: true })
  another('app:3', { 'node_modules/x/i.js': '3' })
  renewImage(root, FOLDER)
  expect(['x', 'y'].map(name => app(`node_modules/${name}/i.js`))).toEqual(['3', undefined])
})

test('renewImage does not take files of the image for changed files after the agent was killed at the end', async () => {
  await filled({ 'a.js': '1', 'b.js': '1' }, ['a.js', 'b.js'])
  write('src/0/b.js', 'mine')
  another('app:2', { 'a.js': '2', 'b.js': '2' })
  await killedAt('filled-0.new')
  renewImage(root, FOLDER)
  await tick()
  another('app:3', { 'a.js': '3', 'b.js': '3' })
  renewImage(root, FOLDER)
  expect([app('a.js'), app('b.js')]).toEqual(['3', 'mine'])
})

test('renewImage only deletes the rest of a copy whose files are all in place', async () => {
  await filled({ 'node_modules/x/i.js': '1' }, [])
  another('app:2', { 'node_modules/x/i.js': '2' })
  renewImage(root, FOLDER)
  another('app:2', {})
  renewImage(root, FOLDER)
  expect([app('node_modules/x/i.js'), existsSync(join(root, '.devctl/new-0'))]).toEqual(['2', false])
})

test('renewImage replaces a file by a link, and a file by a folder', async () => {
  await filled({ 'bin/x': '1', lib: '1' }, ['bin', 'bin/x', 'lib'])
  another('app:2', { 'lib/a.js': '2' })
  mkdirSync(join(root, '.devctl/new-0/bin'))
  symlinkSync('../lib/a.js', join(root, '.devctl/new-0/bin/x'))
  renewImage(root, FOLDER)
  expect(app('bin/x')).toBe('2')
})

test('renewImage replaces a folder that is a file in the new image or that the container has made a file', async () => {
  await filled({ 'lib/a.js': '1', 'node_modules/x/i.js': '1' }, ['lib', 'lib/a.js'])
  rmSync(join(root, 'src/0/lib'), { recursive: true })
  write('src/0/lib', 'mine')
  another('app:2', { 'lib/a.js': '2', 'node_modules/x': '2' })
  renewImage(root, FOLDER)
  expect(['lib', 'node_modules/x'].map(app)).toEqual(['mine', '2'])
})

test('renewImage changes nothing if there is no other image', async () => {
  await filled({ 'a.js': '1' }, ['a.js'])
  renewImage(root, FOLDER)
  expect(app('a.js')).toBe('1')
})
