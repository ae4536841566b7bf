import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { changeFile } from '../../../../adapters/files/locked-file.ts'
import { makeFolder, read } from '../../../support/cli/folder.ts'

const privately = { shown: 'the file', isPrivate: true }
const mode = (path: string) => statSync(path).mode & 0o777

describe('changeFile', () => {
  test('changeFile creates the file and its folders without rights for other users', async () => {
    const folder = makeFolder()
    const file = join(folder, 'home/deeper/file')
    await changeFile(file, { ...privately, edit: text => `${text}!` })
    expect(readFileSync(file, 'utf8')).toBe('undefined!')
    expect([mode(file), mode(join(folder, 'home')), mode(join(folder, 'home/deeper'))]).toEqual([0o600, 0o700, 0o700])
  })

  test('changeFile keeps the mode of a file, and sets 0600 only if the file is private', async () => {
    const folder = makeFolder({ file: 'a' })
    const file = join(folder, 'file')
    writeFileSync(file, 'a', { mode: 0o640 })
    const before = mode(file)
    await changeFile(file, { shown: 'it', isPrivate: false, edit: () => 'b' })
    expect(mode(file)).toBe(before)
    await changeFile(file, { ...privately, edit: () => 'c' })
    expect(mode(file)).toBe(0o600)
    expect(read(folder)).toEqual({ file: 'c' })
  })

  test.runIf(process.getuid?.() === 0).each([
    [true, 0o600],
    [false, 0o640],
  ])('changeFile leaves a file to its owner under sudo (private: %s)', async (isPrivate, expected) => {
    const file = join(makeFolder({ file: 'a' }), 'file')
    chmodSync(file, 0o640)
    chownSync(file, 1000, 1000)
    await changeFile(file, { shown: 'it', isPrivate, edit: () => 'b' })
    expect(statSync(file)).toMatchObject({ uid: 1000, gid: 1000 })
    expect(mode(file)).toBe(expected)
  })

  test('changeFile loses no change when many calls run at the same time', async () => {
    const folder = makeFolder()
    const file = join(folder, 'file')
    const numbers = Array.from({ length: 30 }, (_, index) => index)
    await Promise.all(
      numbers.map(number =>
        changeFile(file, {
          ...privately,
          edit: async text => {
            await new Promise(resolve => setImmediate(resolve))
            return `${text ?? ''}${number},`
          },
        }),
      ),
    )
    const written = read(folder)
    expect(Object.keys(written)).toEqual(['file'])
    expect(new Set(written['file']!.split(',').slice(0, -1).map(Number))).toEqual(new Set(numbers))
  })

  test('changeFile writes nothing when the text stays equal or the edit fails', async () => {
    const folder = makeFolder({ file: 'a' })
    const file = join(folder, 'file')
    const { ino } = statSync(file)
    await changeFile(file, { ...privately, edit: () => undefined })
    await changeFile(file, { ...privately, edit: () => 'a' })
    const fail = () => {
      throw new RangeError('no')
    }
    await expect(changeFile(file, { ...privately, edit: fail })).rejects.toThrow(RangeError)
    expect(statSync(file).ino).toBe(ino)
    expect(readdirSync(folder)).toEqual(['file'])
  })

  test('changeFile edits the target of a symbolic link and keeps the link', async () => {
    const folder = makeFolder({ real: 'a' })
    symlinkSync('real', join(folder, 'link'))
    await changeFile(join(folder, 'link'), { ...privately, edit: text => `${text}b` })
    expect(lstatSync(join(folder, 'link')).isSymbolicLink()).toBe(true)
    expect(readFileSync(join(folder, 'real'), 'utf8')).toBe('ab')
  })

  test('changeFile continues after another process was killed, and deletes its temporary file', async () => {
    const dead = '01234567-89ab-cdef-0123-456789abcdef'
    const folder = makeFolder({ file: 'a', 'file.lock': dead, [`file.${dead}.tmp`]: 'half of a tok' })
    const longAgo = Date.now() / 1000 - 60
    utimesSync(join(folder, 'file.lock'), longAgo, longAgo)
    await changeFile(join(folder, 'file'), { ...privately, edit: text => `${text}b` })
    expect(read(folder)).toEqual({ file: 'ab' })
  })

  test('changeFile starts again when another process has taken over its lock', async () => {
    const folder = makeFolder({ file: 'a' })
    const file = join(folder, 'file')
    let attempts = 0
    await changeFile(file, {
      ...privately,
      edit: text => {
        attempts++
        if (attempts === 1) {
          // Another process changes the file meanwhile.
          writeFileSync(file, `${text}, theirs`)
          writeFileSync(`${file}.lock`, 'theirs')
          const longAgo = Date.now() / 1000 - 60
          utimesSync(`${file}.lock`, longAgo, longAgo)
        }
        return `${text}, ours`
      },
    })
    expect(read(folder)).toEqual({ file: 'a, theirs, ours' })
  })

  test('changeFile reports the error that prevents the write', async () => {
    const folder = makeFolder({ file: 'a' })
    mkdirSync(join(folder, 'folder'))
    const error = await changeFile(join(folder, 'folder'), { ...privately, edit: () => 'b' }).catch(error => error)
    expect(error).toMatchObject({ message: 'cannot write `the file`: EISDIR' })
    await expect(changeFile(join(folder, 'file/x'), { ...privately, edit: () => 'b' })).rejects.toThrow(
      /^cannot write `the file`: (ENOTDIR|EEXIST)$/,
    )
  })
})
