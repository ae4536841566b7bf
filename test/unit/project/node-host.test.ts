import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { BuildInput } from '../../../compiler/host.ts'
import { writeOutput } from '../../../gitops/repository/tree/output-directory.ts'
import { createHost } from '../../../project/node-host.ts'
import { makeFolder, write } from '../../support/cli/folder.ts'

const host = createHost({
  env: { A: 'shell', HOME: '/home/me' },
  platformVariables: new Map([
    ['A', 'p'],
    ['B', 'p'],
  ]),
})

describe('the host of a compilation', () => {
  test('readFile reads files, and says why it cannot', () => {
    const folder = makeFolder({ 'a.txt': 'é', 'run.sh': '#!/bin/sh' })
    chmodSync(join(folder, 'run.sh'), 0o755)
    symlinkSync('loop', join(folder, 'loop'))
    const file = host.readFile(join(folder, 'a.txt'))
    expect(file).toEqual({ kind: 'file', bytes: expect.anything() })
    if (file.kind === 'file') expect(Buffer.from(file.bytes).toString('hex')).toBe('c3a9')
    expect(host.readFile(join(folder, 'run.sh'))).toMatchObject({ executable: true })
    expect(host.readFile(join(folder, 'nothing'))).toEqual({ kind: 'missing' })
    expect(host.readFile(join(folder, 'a.txt/below'))).toEqual({ kind: 'missing' })
    expect(host.readFile('/a\0b')).toEqual({ kind: 'missing' })
    expect(host.readFile(folder)).toEqual({ kind: 'folder' })
    expect(host.readFile(join(folder, 'loop'))).toEqual({
      kind: 'unreadable',
      reason: 'its symbolic links lead in a circle',
    })
    expect(host.readFile(join(folder, 'x'.repeat(300)))).toEqual({ kind: 'unreadable', reason: 'its name is too long' })
    expect(host.readFile('/dev/null')).toEqual({ kind: 'file', bytes: new Uint8Array() })
    expect(host.readFile('/dev/zero')).toEqual({ kind: 'unreadable', reason: 'it is a device' })
  })

  test.skipIf(process.platform === 'win32')(
    'readFile reads a pipe to its end, and does not wait for one without a writer',
    async () => {
      const folder = makeFolder()
      const pipe = join(folder, 'pipe')
      execFileSync('mkfifo', [pipe])
      expect(host.readFile(pipe)).toEqual({ kind: 'unreadable', reason: 'it is a pipe that nothing writes to' })
      // The writer has the pipe open before the reader comes, and writes later.
      const end = openSync(pipe, 'r+')
      spawn('sh', ['-c', 'sleep 0.05; printf a; sleep 0.05; head -c 200000 /dev/zero'], {
        stdio: ['ignore', end, 'ignore'],
      })
      closeSync(end)
      const file = host.readFile(pipe)
      expect(file.kind === 'file' && file.bytes.length).toBe(200_001)
    },
  )

  test('readDirectory lists a folder in order, and follows links', () => {
    const folder = makeFolder({ b: '', 'a/x': '', C: '' })
    symlinkSync('a', join(folder, 'link'))
    symlinkSync('nowhere', join(folder, 'dangling'))
    expect(host.readDirectory(folder)).toEqual([
      { name: 'C', kind: 'file' },
      { name: 'a', kind: 'folder' },
      { name: 'b', kind: 'file' },
      { name: 'dangling', kind: 'other' },
      { name: 'link', kind: 'folder' },
    ])
    expect(host.readDirectory(join(folder, 'b'))).toBeUndefined()
    expect(host.readDirectory(join(folder, 'none'))).toBeUndefined()
  })

  test('stat and realPath follow links', () => {
    const folder = makeFolder({ a: '12345' })
    symlinkSync('a', join(folder, 'link'))
    expect(host.stat(join(folder, 'link'))).toEqual({ kind: 'file', size: 5 })
    expect(host.stat(folder)).toEqual({ kind: 'folder', size: 0 })
    expect(host.stat('/dev/null')).toEqual({ kind: 'other', size: 0 })
    expect(host.stat(join(folder, 'none'))).toBeUndefined()
    expect(host.realPath(join(folder, 'link'))).toBe(host.realPath(join(folder, 'a')))
    expect(host.realPath(join(folder, 'none'))).toBe(join(folder, 'none'))
  })

  test('variables of the shell are found before those of the platform', () => {
    expect(host.variable('A')).toEqual({ value: 'shell', source: 'shell' })
    expect(host.variable('B')).toEqual({ value: 'p', source: 'platform' })
    expect(host.variable('C')).toBeUndefined()
    expect(host.environment.get('A')).toBe('shell')
    expect(host.environment.get('B')).toBeUndefined()
    expect(host.environment.get('constructor')).toBeUndefined()
    expect(host.homeDirectory).toBe('/home/me')
  })
})

const files = { Dockerfile: 'FROM scratch\nCOPY . .\n', 'src/main.c': 'int main;', 'src/lib/a.c': 'a', 'empty.txt': '' }

function hashOf(change: (folder: string) => void = () => {}, input: Partial<BuildInput> = {}) {
  const folder = makeFolder(files)
  change(folder)
  return host.hashBuild({ context: folder, args: [], ...input })
}

describe('the hash of a build', () => {
  const plain = () => hashOf()

  test('the hash is the same for equal content, in any place and at any time', () => {
    expect(plain()).toMatch(/^[0-9a-f]{64}$/)
    expect(plain()).toBe(plain())
    expect(hashOf(folder => utimesSync(join(folder, 'src/main.c'), 0, 0))).toBe(plain())
    expect(hashOf(folder => chmodSync(join(folder, 'src/main.c'), 0o600))).toBe(plain())
  })

  test.each<[string, (folder: string) => void]>([
    ['content', folder => write(folder, { 'src/main.c': 'int Main;' })],
    ['a new file', folder => write(folder, { new: '' })],
    ['a new empty folder', folder => mkdirSync(join(folder, 'new'))],
    ['an executable bit', folder => chmodSync(join(folder, 'src/main.c'), 0o755)],
    ['a link', folder => symlinkSync('src', join(folder, 'link'))],
    ['the Dockerfile', folder => write(folder, { Dockerfile: 'FROM busybox\n' })],
    ['a name', folder => execFileSync('mv', ['main.c', 'Main.c'], { cwd: join(folder, 'src') })],
    ['the place of content', folder => write(folder, { 'src/main.c': 'a', 'src/lib/a.c': 'int main;' })],
  ])('the hash changes with %s', (_name, change) => expect(hashOf(change)).not.toBe(plain()))

  test('the hash changes with the target of a link', () => {
    const link = (target: string) => hashOf(folder => symlinkSync(target, join(folder, 'link')))
    expect(link('src')).toBe(link('src'))
    expect(link('src')).not.toBe(link('src/lib'))
  })

  test('the hash depends on target, arguments, settings and Dockerfile, but not on argument order', () => {
    const different = [
      plain(),
      hashOf(undefined, { target: 'dev' }),
      hashOf(undefined, { args: [['A', '1']] }),
      hashOf(undefined, { settings: [['A', '1']] }),
      hashOf(undefined, { settings: [['A'], ['1']] }),
      hashOf(undefined, { args: [['A', '']] }),
      hashOf(undefined, { args: [['A', '-']] }),
      hashOf(undefined, { dockerfileInline: files.Dockerfile }),
      hashOf(undefined, { dockerfileInline: 'FROM scratch\n' }),
      hashOf(undefined, { dockerfile: 'src/main.c' }),
      hashOf(undefined, { dockerfile: 'none' }),
    ]
    expect(new Set(different).size).toBe(different.length)
    expect(hashOf(undefined, { settings: [] })).toBe(plain())
    expect(
      hashOf(undefined, {
        args: [
          ['A', '1'],
          ['B', '2'],
        ],
      }),
    ).toBe(
      hashOf(undefined, {
        args: [
          ['B', '2'],
          ['A', '1'],
        ],
      }),
    )
    expect(hashOf(undefined, { dockerfile: 'Dockerfile' })).toBe(plain())
  })

  test('the hash follows a Dockerfile that is a link out of its folder', () => {
    const shared = makeFolder({ Dockerfile: 'FROM a\n' })
    const linked = () =>
      hashOf(folder => {
        rmSync(join(folder, 'Dockerfile'))
        symlinkSync(join(shared, 'Dockerfile'), join(folder, 'Dockerfile'))
      })
    const before = linked()
    write(shared, { Dockerfile: 'FROM b\n' })
    expect(linked()).not.toBe(before)
  })

  test('the hash excludes and includes files as `.dockerignore` says', () => {
    const ignoring = (text: string, more: Readonly<Record<string, string>> = {}) =>
      hashOf(folder => write(folder, { '.dockerignore': text, ...more }))
    const rules = '# a comment\nnode_modules\n*.log\n/src/lib\n!src/lib/keep\n'
    expect(ignoring(rules, { 'node_modules/a/b': 'x', 'a.log': 'x', 'src/lib/x': 'x' })).toBe(ignoring(rules))
    expect(ignoring(rules, { 'src/lib/keep': 'x' })).not.toBe(ignoring(rules))
    expect(ignoring(rules, { 'src/a.log': 'x' })).not.toBe(ignoring(rules))
    expect(ignoring('*\n!src/**/*.c\n', { 'src/lib/new.c': 'x' })).not.toBe(ignoring('*\n!src/**/*.c\n'))
    expect(ignoring('*\n!src/**/*.c\n', { 'other/new.c': 'x' })).toBe(ignoring('*\n!src/**/*.c\n'))
    expect(ignoring('**\n!**/keep\n', { 'a/b/keep': 'x' })).not.toBe(ignoring('**\n!**/keep\n'))
    // The Dockerfile takes part even where it is ignored.
    expect(ignoring('Dockerfile\n', { Dockerfile: 'FROM x' })).not.toBe(ignoring('Dockerfile\n'))
  })

  test.each(['!././bar/x', '!foo/../bar/x', '!//bar//x/', '! bar/./x', '!bar/../bar/*'])(
    'the hash includes what a pattern names once it is cleaned: `%s`',
    pattern => {
      const hash = (text: string) =>
        hashOf(folder => write(folder, { '.dockerignore': `bar\n${pattern}\n`, 'bar/x': text }))
      expect(hash('one')).not.toBe(hash('two'))
    },
  )

  test('a link of an ignore file is followed within the context only, as BuildKit does', () => {
    const linked = (target: string, ignored: string, more: Readonly<Record<string, string>> = {}) =>
      hashOf(folder => {
        write(folder, { [ignored]: 'ignored\n', ignored: 'x', ...more })
        symlinkSync(target, join(folder, '.dockerignore'))
      })
    const without = (target: string, ignored: string) =>
      hashOf(folder => {
        write(folder, { [ignored]: 'ignored\n' })
        symlinkSync(target, join(folder, '.dockerignore'))
      })
    for (const target of ['rules/ignore', '/rules/ignore', '../../rules/ignore'])
      expect(linked(target, 'rules/ignore')).toBe(without(target, 'rules/ignore'))
    // This file is outside of the context, and would exclude `ignored`.
    const outside = join(makeFolder({ ignore: 'ignored\n' }), 'ignore')
    expect(linked(outside, 'rules/ignore')).not.toBe(without(outside, 'rules/ignore'))
    expect(linked('.dockerignore', 'rules/ignore')).not.toBe(without('.dockerignore', 'rules/ignore'))
  })

  test('the ignore file of the Dockerfile takes precedence over that of the context', () => {
    const own = { '.dockerignore': 'a\n', 'Dockerfile.dockerignore': 'b\n' }
    const hash = (more: Readonly<Record<string, string>>) => hashOf(folder => write(folder, { ...own, ...more }))
    expect(hash({ b: 'x' })).toBe(hash({}))
    expect(hash({ a: 'x' })).not.toBe(hash({}))
  })

  test('two clones of one commit have the same hash', () => {
    expect(hashOf(folder => write(folder, { '.git/index': 'x', 'sub/.git': 'gitdir: y' }))).toBe(
      hashOf(folder => mkdirSync(join(folder, 'sub'))),
    )
    const kept = (index: string) => hashOf(folder => write(folder, { '.dockerignore': '!.git\n', '.git/index': index }))
    expect(kept('x')).not.toBe(kept('y'))
  })

  test('the hash does not change with the manifests that devctl writes into the context', () => {
    const output = (files: Readonly<Record<string, string>>, more: Readonly<Record<string, string>> = {}) =>
      hashOf(folder => {
        writeOutput(join(folder, 'deploy/k8s'), 'k8s', {
          application: 'app',
          sources: [],
          files: new Map(Object.entries(files)),
          index: false,
          keepOthers: false,
          takeOver: false,
        })
        write(folder, more)
      })
    const none = hashOf(folder => mkdirSync(join(folder, 'deploy')))
    expect(output({ 'web/a.yaml': 'a' })).toBe(none)
    expect(output({ 'web/a.yaml': 'b', 'b/c.yaml': 'c' })).toBe(none)
    expect(output({ 'web/a.yaml': 'a' }, { 'deploy/k8s/web/own.yaml': 'x' })).toBe(
      hashOf(folder => write(folder, { 'deploy/k8s/web/own.yaml': 'x' })),
    )
    // Files that were changed since then count, and so do files that devctl does not write.
    const changed = (text: string) => output({ 'web/a.yaml': 'a' }, { 'deploy/k8s/web/a.yaml': text })
    expect(new Set([none, changed('b'), changed('c')]).size).toBe(3)
    expect(output({ 'app.js': 'a' })).not.toBe(output({ 'app.js': 'b' }))
    const forged = (text: string) =>
      output(
        { 'web/a.yaml': 'a' },
        {
          'deploy/k8s/.devctl.lock': JSON.stringify({
            version: 2,
            application: 'app',
            files: { '../app.js': 'sha256:0', 'app.js': 'sha256:0', 'app.yaml': 'sha256:0' },
          }),
          'deploy/k8s/app.js': text,
          'deploy/k8s/app.yaml': text,
        },
      )
    expect(forged('a')).not.toBe(forged('b'))
    const listed = (text: string) =>
      output(
        { 'web/a.yaml': 'a' },
        {
          'deploy/k8s/.devctl.lock': JSON.stringify({
            version: 2,
            application: 'app',
            files: { 'app.js': 'sha256:0' },
          }),
          'deploy/k8s/app.js': text,
        },
      )
    expect(listed('a')).not.toBe(listed('b'))
    // A file that only looks like a lock is a file like any other.
    expect(hashOf(folder => write(folder, { 'k8s/.devctl.lock': '{}' }))).not.toBe(plain())
    expect(hashOf(folder => write(folder, { '.devctl.lock': '{}' }))).not.toBe(plain())
  })

  test.skipIf(process.platform !== 'linux')('the hash includes files and links whose names are not UTF-8', () => {
    const named = (make: (path: Buffer) => void) =>
      hashOf(folder => make(Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([0xe9])])))
    const hashes = [named(path => writeFileSync(path, 'x')), named(path => symlinkSync('src', path)), plain()]
    expect(new Set(hashes).size).toBe(3)
  })

  test('the hash does not wait for a pipe', () => {
    if (process.platform === 'win32') return
    const pipes = (folder: string) => {
      execFileSync('mkfifo', ['pipe', '.dockerignore', 'Dockerfile.dockerignore'], { cwd: folder })
      execFileSync('sh', ['-c', 'rm Dockerfile; mkfifo Dockerfile'], { cwd: folder })
    }
    expect(hashOf(pipes)).toMatch(/^[0-9a-f]{64}$/)
  })

  test('the hash includes the end of a large file', () => {
    const large = (last: string) =>
      hashOf(folder => {
        writeFileSync(join(folder, 'large'), '')
        truncateSync(join(folder, 'large'), 5_000_000)
        writeFileSync(join(folder, 'large'), last, { flag: 'a' })
      })
    expect(large('a')).toBe(large('a'))
    expect(large('a')).not.toBe(large('b'))
  })

  test('only folders of this machine have a hash', () => {
    const folder = makeFolder({ file: '' })
    expect(host.hashBuild({ context: join(folder, 'none'), args: [] })).toBeUndefined()
    expect(host.hashBuild({ context: join(folder, 'file'), args: [] })).toBeUndefined()
    expect(host.hashBuild({ context: 'https://example.com/a.git#main', args: [] })).toBeUndefined()
  })
})
