import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { extractTar } from '../../../../adapters/tar/extract-tar.ts'
import { readTar } from '../../../../adapters/tar/read-tar.ts'
import { writeTar } from '../../../../adapters/tar/write-tar.ts'

const base = mkdtempSync(join(tmpdir(), 'devctl-tar-'))
let folder = ''
let count = 0
beforeEach(() => {
  folder = join(base, String(count++))
  mkdirSync(folder)
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

const LONG = `${'long'.repeat(22)}.txt`

/** Creates a folder with what an archive can hold. */
function makeSource(): string {
  const source = join(folder, 'source')
  mkdirSync(join(source, 'deep', 'er'), { recursive: true })
  writeFileSync(join(source, 'run.sh'), 'echo ü\n', { mode: 0o755 })
  writeFileSync(join(source, 'deep', LONG), 'x'.repeat(70_000))
  writeFileSync(join(source, 'deep', 'empty'), '')
  symlinkSync('../run.sh', join(source, 'deep', 'link'))
  return source
}

/** Creates a folder with names in Latin-1. */
function makeOddSource(): string {
  const source = join(folder, 'source')
  mkdirSync(source)
  for (const byte of [0xe8, 0xe9]) writeFileSync(Buffer.concat([Buffer.from(`${source}/caf`), Buffer.of(byte)]), 'odd')
  symlinkSync(Buffer.of(0xe9), join(source, 'link'))
  writeFileSync(join(source, 'plain'), 'plain')
  return source
}

async function bytesOf(parts: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = []
  for await (const one of parts) all.push(one)
  return Buffer.concat(all)
}

/** Yields bytes in parts of a size that fits no block. */
async function* inParts(bytes: Buffer, size = 777): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const archiveOf = (path: string, name: string) => bytesOf(writeTar(path, name, { files: 0, bytes: 0 }, () => {}))

function expectCopy(copy: string): void {
  expect(readFileSync(join(copy, 'run.sh'), 'utf8')).toBe('echo ü\n')
  expect(statSync(join(copy, 'run.sh')).mode & 0o777).toBe(0o755)
  expect(statSync(join(copy, 'deep', LONG)).size).toBe(70_000)
  expect(statSync(join(copy, 'deep', 'empty')).size).toBe(0)
  expect(statSync(join(copy, 'deep', 'er')).isDirectory()).toBe(true)
  expect(readlinkSync(join(copy, 'deep', 'link'))).toBe('../run.sh')
}

describe('archives', () => {
  test('an archive is read back with its modes, links and long names', async () => {
    const bytes = await archiveOf(makeSource(), 'copy')
    const skipped: string[] = []
    const extraction = { archive: inParts(bytes), name: 'copy', target: join(folder, 'out') }
    const counts = await extractTar({ ...extraction, skipped: name => void skipped.push(name) })
    expect(skipped).toEqual([])
    expect(counts).toEqual({ files: 4, bytes: 70_000 + 8 })
    expectCopy(join(folder, 'out'))
  })

  test.skipIf(process.platform === 'win32')('the `tar` of this machine reads the archive', async () => {
    const bytes = await archiveOf(makeSource(), 'copy')
    execFileSync('tar', ['-xopf', '-', '-C', folder], { input: bytes })
    expectCopy(join(folder, 'copy'))
  })

  test.skipIf(process.platform === 'win32').each(['gnu', 'pax', 'ustar'])(
    'an archive in the format %s of `tar` is read',
    async format => {
      const source = makeSource()
      const bytes = execFileSync('tar', [`--format=${format}`, '-cf', '-', '-C', folder, './source'])
      const skipped = (name: string, reason: string) => expect.fail(`${name}: ${reason}`)
      await extractTar({ archive: inParts(bytes), name: 'source', target: join(folder, 'out'), skipped })
      expectCopy(join(folder, 'out'))
      expect(existsSync(source)).toBe(true)
    },
  )

  test.skipIf(process.platform !== 'linux').each(['gnu', 'pax'])(
    'names that are not UTF-8 in an archive in the format %s are reported and left out',
    async format => {
      const source = makeOddSource()
      const bytes = execFileSync('tar', [`--format=${format}`, '-cf', '-', '-C', folder, './source'])
      const skipped: string[] = []
      const skip = (name: string, reason: string) => void skipped.push(`${name}: ${reason}`)
      const extraction = { archive: inParts(bytes), name: 'source', target: join(folder, 'out') }
      expect(await extractTar({ ...extraction, skipped: skip })).toEqual({ files: 1, bytes: 5 })
      expect(readdirSync(join(folder, 'out'))).toEqual(['plain'])
      expect(skipped.sort()).toEqual([
        './source/caf\ufffd: its name is not UTF-8',
        './source/caf\ufffd: its name is not UTF-8',
        './source/link: its name or its target is not UTF-8',
      ])
      expect(existsSync(source)).toBe(true)
    },
  )

  test.skipIf(process.platform !== 'linux')('names that are not UTF-8 are reported and not written', async () => {
    const source = makeOddSource()
    const [counts, skipped] = [{ files: 0, bytes: 0 }, [] as string[]]
    await bytesOf(writeTar(source, 'copy', counts, (path, reason) => void skipped.push(`${path}: ${reason}`)))
    expect(counts).toEqual({ files: 1, bytes: 5 })
    expect(skipped).toEqual([
      `${source}/caf\ufffd: its name is not UTF-8`,
      `${source}/caf\ufffd: its name is not UTF-8`,
      `${source}/link: its target is not UTF-8`,
    ])
  })

  test('a size above 8 GiB is read from its binary form', async () => {
    const header = entry('big', '0')
    header.fill(0, 124, 136)
    header[124] = 0x80
    header.writeBigUInt64BE(10_000_000_000n, 128)
    const input = inParts(Buffer.concat([withSum(header), Buffer.alloc(512)]))
    const first = await readTar(input).next()
    expect(first.value).toMatchObject({ name: 'big', size: 10_000_000_000 })
  })

  test.each([
    ['random bytes', Buffer.alloc(1024, 'x')],
    ['half a file', Buffer.concat([entry('a', '0', '', 2000), Buffer.alloc(512)])],
    ['a wrong pax header', Buffer.concat([entry('a', 'x', '', 5), block('99 x='), entry('b', '0')])],
  ])('%s is refused', async (_, bytes) => {
    await expect(extract(bytes)).rejects.toThrow()
  })
})

describe('hostile archives', () => {
  test.each(['../evil', 'copy/../../evil', '/evil', 'other/evil', 'copy/a/../../../evil'])(
    'the name `%s` is refused',
    async name => {
      await expect(extract(entry(name, '0'))).rejects.toThrow(`it has the name \`${name}\``)
      expect(existsSync(join(folder, 'evil'))).toBe(false)
    },
  )

  test.each(['/etc/passwd', '..', '../x', 'a/../..', 'a/../b', ''])('a link to `%s` is left out', async link => {
    const { skipped } = await extract(entry('copy/', '5'), entry('copy/link', '2', link))
    expect(skipped).toEqual(['copy/link'])
    expect(existsSync(join(folder, 'out', 'link'))).toBe(false)
  })

  test('the copied path itself cannot become a link', async () => {
    const { skipped } = await extract(entry('copy', '2', '.'))
    expect(skipped).toEqual(['copy'])
  })

  test('nothing is written through a link of the archive', async () => {
    const parts = [entry('copy/', '5'), entry('copy/d/', '5'), entry('copy/l', '2', 'd'), entry('copy/l/x', '0')]
    await expect(extract(...parts)).rejects.toThrow('is no folder')
    expect(existsSync(join(folder, 'out', 'd', 'x'))).toBe(false)
  })

  test('nothing is written through a link of this machine', async () => {
    const outside = join(folder, 'outside')
    mkdirSync(outside)
    mkdirSync(join(folder, 'out'))
    symlinkSync(outside, join(folder, 'out', 'dir'))
    writeFileSync(join(outside, 'file'), 'mine')
    symlinkSync(join(outside, 'file'), join(folder, 'out', 'file'))
    await extract(entry('copy/file', '0', '', 3), block('new'))
    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('mine')
    expect(readFileSync(join(folder, 'out', 'file'), 'utf8')).toBe('new')
    await expect(extract(entry('copy/dir/evil', '0'))).rejects.toThrow('is no folder')
    expect(existsSync(join(outside, 'evil'))).toBe(false)
  })

  test.each(['/etc/passwd', '../x', 'copy/../../x'])('a hard link to `%s` is refused', async link => {
    await expect(extract(entry('copy/a', '1', link))).rejects.toThrow()
  })

  test('a hard link to a link is refused', async () => {
    await expect(
      extract(entry('copy/d/', '5'), entry('copy/l', '2', 'd'), entry('copy/a', '1', 'copy/l')),
    ).rejects.toThrow('the target of `copy/a` is missing')
  })

  test('devices are left out, and setuid bits and the mode of an existing folder are not taken', async () => {
    mkdirSync(join(folder, 'out'), { mode: 0o755 })
    const { skipped } = await extract(
      entry('copy/', '5', '', 0, 0o700),
      entry('copy/dev', '3'),
      entry('copy/su', '0', '', 0, 0o4755),
    )
    expect(skipped).toEqual(['copy/dev'])
    expect(lstatSync(join(folder, 'out', 'su')).mode & 0o7777).toBe(0o755)
    expect(lstatSync(join(folder, 'out')).mode & 0o777).toBe(0o755)
  })
})

async function extract(...parts: readonly Buffer[]) {
  const skipped: string[] = []
  const archive = inParts(Buffer.concat([...parts, Buffer.alloc(1024)]))
  await extractTar({ archive, name: 'copy', target: join(folder, 'out'), skipped: name => void skipped.push(name) })
  return { skipped }
}

function entry(name: string, type: string, link = '', size = 0, mode = 0o644): Buffer {
  const header = Buffer.alloc(512)
  header.write(name, 0)
  header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100)
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
  header.write(type, 156)
  header.write(link, 157)
  header.write('ustar\u000000', 257, 'latin1')
  return withSum(header)
}

function withSum(header: Buffer): Buffer {
  header.fill(' ', 148, 156)
  const sum = header.reduce((all, byte) => all + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

function block(text: string): Buffer {
  const content = Buffer.alloc(512)
  content.write(text)
  return content
}
