import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { pathFilter } from '../../../../adapters/buildkit/files/filter.ts'
import { type FileToSend, folderAt, folderInMemory, type OpenFile } from '../../../../adapters/buildkit/files/folder.ts'
import { followLinks } from '../../../../adapters/buildkit/files/follow-links.ts'
import { walk } from '../../../../adapters/buildkit/files/walk.ts'

// test/pods/buildkit compares generated contexts with the result of BuildKit itself.

const root = mkdtempSync(join(tmpdir(), 'devctl-test-files-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const write = (path: string, text = '') => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}
for (const path of ['b', 'a/x', 'a/deep/y', 'a.b', 'a-b', 'z/skip/1', 'z/skip/keep/2', '𝒳', '\ufffd']) write(path)
write('b', 'content')
chmodSync(join(root, 'b'), 0o4755)
linkSync(join(root, 'b'), join(root, 'c'))
symlinkSync('/a/deep', join(root, 'link'))
symlinkSync('circle', join(root, 'circle'))
utimesSync(join(root, 'b'), 1, 1.5)

const pathsOf = (selection: Parameters<typeof walk>[1]) => [...walk(root, selection)].map(({ path }) => path)

describe('walk', () => {
  test('walk sorts the entries of each folder by the bytes of their names', () => {
    const top = pathsOf({}).filter(path => !path.includes('/'))
    expect(top).toEqual(['a', 'a-b', 'a.b', 'b', 'c', 'circle', 'link', 'z', '\ufffd', '𝒳'])
  })

  test('walk reports modes as Go encodes them, times in nanoseconds, and targets of links', () => {
    const files = new Map([...walk(root, {})].map(file => [file.path, file]))
    expect(files.get('b')).toEqual({
      path: 'b',
      mode: 0o755 + 2 ** 23,
      size: 7,
      modTime: 1_500_000_000n,
      linkname: '',
    })
    expect(files.get('c')).toMatchObject({ linkname: 'b', size: 0 })
    expect(files.get('link')).toMatchObject({ mode: 2 ** 27 + 0o777, linkname: '/a/deep' })
    expect(files.get('a')!.mode).toBe(2 ** 31 + 0o755)
  })

  test('walk gives an excluded folder when something in it is included again', () => {
    expect(pathsOf({ include: ['z'], exclude: ['z/skip', '!z/skip/keep'] })).toEqual([
      'z',
      'z/skip',
      'z/skip/keep',
      'z/skip/keep/2',
    ])
  })

  test.skipIf(process.platform !== 'linux')('walk refuses a name that is not UTF-8 unless it is left out', () => {
    const folder = mkdtempSync(join(tmpdir(), 'devctl-test-names-'))
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([0xe9])]), '')
    writeFileSync(join(folder, 'main.js'), '')
    expect(() => [...walk(folder, {})]).toThrow('the name of `caf\ufffd` is not UTF-8')
    expect([...walk(folder, { exclude: ['caf*'] })].map(({ path }) => path)).toEqual(['main.js'])
    expect([...walk(folder, { followPaths: ['main.js'] })].map(({ path }) => path)).toEqual(['main.js'])
    rmSync(folder, { recursive: true })
  })

  test('walk includes the targets of links in `followPaths`', () => {
    expect(pathsOf({ followPaths: ['link/y'] })).toEqual(['a', 'a/deep', 'a/deep/y', 'link'])
    expect(pathsOf({ followPaths: ['.'] })).toEqual(pathsOf({}))
  })
})

test('followLinks adds the target of each link once and merges nested paths', () => {
  expect(followLinks(root, ['circle'])).toEqual(['circle'])
  expect(followLinks(root, ['l*'])).toEqual(['a/deep', 'l*'])
  expect(followLinks(root, ['a', 'a/x'])).toEqual(['a'])
  expect(followLinks(root, ['/'])).toBeUndefined()
})

test.each([
  [['*.log'], 'x.log', false],
  [['*.log'], 'a/x.log', true],
  [['**/*.log'], 'a/b/x.log', false],
  [['/a/'], 'a/b', false],
  [['*', '!keep'], 'keep/me', true],
  [['!keep', '*'], 'keep', false],
  [['a, b'], 'a, b', false],
  [['a, b'], 'a', true],
  [['a\\b'], 'ab', true],
  [['a\\*'], 'a*', false],
])('a filter that excludes %j takes %s: %s', (exclude, path, expected) => {
  expect(pathFilter({ exclude }).takes(path)).toBe(expected)
})

test('folderInMemory lists and reads the files that it was given', async () => {
  const folder = folderInMemory(new Map([['Dockerfile', 'FROM x']]))
  expect([...folder.files({ include: ['Dockerfile', 'Dockerfile.dockerignore'] })]).toHaveLength(1)
  expect([...folder.files({ followPaths: ['other'] })]).toEqual([])
  expect(await textOf(folder.open({ path: 'Dockerfile', size: 6, modTime: 0n }))).toBe('FROM x')
})

test('a file that has changed since the walk, or cannot be read, is an error', async () => {
  const folder = folderAt(root)
  const modTime = statSync(join(root, 'b'), { bigint: true }).mtimeNs
  const open = async (file: Partial<FileToSend>) => textOf(folder.open({ path: 'b', size: 7, modTime, ...file }))
  expect(await open({})).toBe('content')
  const sizes = [8, 6, 1, 0, 2 ** 30].map(size => ({ size }))
  const others = [...sizes, { modTime: modTime - 1n }, { path: 'gone' }]
  for (const other of others) await expect(open(other)).rejects.toThrow('changed during the build')
  await expect(open({ path: 'a', size: 1 })).rejects.toThrow('EISDIR')
})

async function textOf(file: OpenFile): Promise<string> {
  const [all, buffer]: [Buffer[], Buffer] = [[], Buffer.alloc(3)]
  for (let length = buffer.length; length === buffer.length; ) {
    length = await file.read(buffer)
    all.push(Buffer.from(buffer.subarray(0, length)))
  }
  file.close()
  return Buffer.concat(all).toString()
}
