import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { UserError } from '../../../../../compiler/diagnostics/user-error.ts'
import { type FolderOutput, planChange } from '../../../../../gitops/repository/tree/change.ts'
import { writeOutput } from '../../../../../gitops/repository/tree/output-directory.ts'
import { fingerprint, LOCK_NAME, parseLock, printLock } from '../../../../../project/lock.ts'
import { makeFolder, read, write } from '../../../../support/cli/folder.ts'

const output = (files: Readonly<Record<string, string>>, more: Partial<FolderOutput> = {}): FolderOutput => ({
  application: 'shop',
  sources: ['compose.yaml'],
  files: new Map(Object.entries(files)),
  index: false,
  keepOthers: false,
  takeOver: false,
  ...more,
})

const run = (folder: string, files: Readonly<Record<string, string>>, more?: Partial<FolderOutput>) =>
  writeOutput(folder, 'k8s', output(files, more))

function failure(act: () => unknown): UserError {
  try {
    act()
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

const contents = (folder: string) => {
  const { [LOCK_NAME]: _, ...files } = read(folder)
  return files
}

describe('an output folder', () => {
  test('a new folder has its files and a lock that follows from them alone', () => {
    const folder = join(makeFolder(), 'a/b')
    expect(run(folder, { 'web/service-web.yaml': 's', '_shared/configmap-a.yaml': 'c' })).toEqual({
      written: 2,
      removed: 0,
      unchanged: 0,
    })
    expect(contents(folder)).toEqual({ 'web/service-web.yaml': 's', '_shared/configmap-a.yaml': 'c' })
    expect(readFileSync(join(folder, LOCK_NAME), 'utf8')).toBe(`{
  "version": 2,
  "application": "shop",
  "sources": [
    "compose.yaml"
  ],
  "files": {
    "_shared/configmap-a.yaml": "sha256:2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6",
    "web/service-web.yaml": "sha256:043a718774c572bd8a25adbeb1bfcd5c0256ae11cecf9f9c3f925d0e52beaf89"
  }
}
`)
  })

  test('unchanged files and an unchanged lock are not written', () => {
    const folder = makeFolder()
    run(folder, { 'web/a.yaml': 'a', 'web/b.yaml': 'b' })
    const old = new Date('2020-01-01')
    for (const path of ['web/a.yaml', 'web/b.yaml', LOCK_NAME]) utimesSync(join(folder, path), old, old)
    expect(run(folder, { 'web/a.yaml': 'a', 'web/b.yaml': 'b' })).toEqual({ written: 0, removed: 0, unchanged: 2 })
    for (const path of ['web/a.yaml', 'web/b.yaml', LOCK_NAME]) expect(statSync(join(folder, path)).mtime).toEqual(old)
    expect(run(folder, { 'web/a.yaml': 'a', 'web/b.yaml': 'B' })).toEqual({ written: 1, removed: 0, unchanged: 1 })
    expect(statSync(join(folder, 'web/a.yaml')).mtime).toEqual(old)
  })

  test('files that are no longer generated are deleted with empty folders, and no other files', () => {
    const folder = makeFolder({ 'README.md': 'mine', 'db/notes.txt': 'mine' })
    run(folder, { 'web/a.yaml': 'a', 'db/b.yaml': 'b', 'db/c.yaml': 'c', 'api/d.yaml': 'd' })
    expect(run(folder, { 'web/a.yaml': 'a' })).toEqual({ written: 0, removed: 3, unchanged: 1 })
    expect(contents(folder)).toEqual({ 'README.md': 'mine', 'db/notes.txt': 'mine', 'web/a.yaml': 'a' })
    expect(existsSync(join(folder, 'api'))).toBe(false)
  })

  test('a missing file counts as removed, and is written again if it is wanted', () => {
    const folder = makeFolder()
    run(folder, { 'web/a.yaml': 'a', 'web/b.yaml': 'b' })
    rmSync(join(folder, 'web'), { recursive: true })
    expect(run(folder, { 'web/a.yaml': 'a' })).toEqual({ written: 1, removed: 0, unchanged: 0 })
    expect(contents(folder)).toEqual({ 'web/a.yaml': 'a' })
  })

  test.each<readonly [string, (folder: string) => void]>([
    ['deleted', folder => rmSync(join(folder, 'web/a.yaml'))],
    ['edited', folder => write(folder, { 'web/a.yaml': 'edited' })],
  ])('a file that was %s is restored with the lock as it was', (_, disturb) => {
    const folder = makeFolder()
    run(folder, { 'web/a.yaml': 'a', 'web/b.yaml': 'b' })
    const before = read(folder)
    disturb(folder)
    run(folder, { 'web/a.yaml': 'a', 'web/b.yaml': 'b' }, { takeOver: true })
    expect(read(folder)).toEqual(before)
  })

  test('a file of the same content is accepted, whoever wrote it', () => {
    const folder = makeFolder({ 'web/a.yaml': 'a' })
    expect(run(folder, { 'web/a.yaml': 'a' })).toEqual({ written: 0, removed: 0, unchanged: 1 })
    expect(run(folder, {})).toEqual({ written: 0, removed: 1, unchanged: 0 })
  })

  test('a new file of a Secret is readable by its user only', () => {
    const folder = makeFolder()
    run(folder, { 'web/a.yaml': 'a', '_shared/secret-b.yaml': 'b' })
    expect(statSync(join(folder, '_shared/secret-b.yaml')).mode & 0o777).toBe(0o600)
  })
})

describe('a shared folder', () => {
  const base = { 'base-1/a.yaml': 'a', 'base-2/a.yaml': 'a' }

  test('the lock of a shared folder names its users, also the repository itself', () => {
    const folder = makeFolder()
    run(folder, base, { uses: { '.': 'base-1', 'a/b': 'base-2' } })
    expect(parseLock(readFileSync(join(folder, LOCK_NAME), 'utf8'), 'lock').uses).toEqual({
      '.': 'base-1',
      'a/b': 'base-2',
    })
  })

  test('a shared folder is deleted after its last user, except for files of others', () => {
    const folder = makeFolder()
    const shared = join(folder, 'apps/shop')
    run(shared, base, { uses: { a: 'base-1' } })
    run(shared, {}, { uses: {} })
    expect(read(folder)).toEqual({})
    expect(existsSync(shared)).toBe(false)
    run(shared, base, { uses: { a: 'base-1' } })
    write(shared, { 'notes.md': 'theirs' })
    run(shared, {}, { uses: {} })
    expect(read(folder)).toEqual({ 'apps/shop/notes.md': 'theirs' })
  })
})

describe('refusals before anything is written', () => {
  const cases: readonly [string, (folder: string) => void, string][] = [
    [
      'a file edited by hand',
      folder => write(folder, { 'web/a.yaml': 'edited' }),
      '`web/a.yaml` was edited by hand since devctl wrote it',
    ],
    [
      'an edited file that would be removed',
      folder => write(folder, { 'old/z.yaml': 'edited' }),
      '`old/z.yaml` was edited by hand since devctl wrote it',
    ],
    ['a foreign file', folder => write(folder, { 'web/new.yaml': 'mine' }), "`web/new.yaml` is not devctl's"],
    [
      'a folder in the place of a file',
      folder => mkdirSync(join(folder, 'web/new.yaml')),
      '`web/new.yaml` is a folder',
    ],
    ['a file in the place of a folder', folder => write(folder, { api: 'mine' }), '`api` is not a folder'],
    [
      'a link to a file',
      folder => symlinkSync('/etc/hostname', join(folder, 'web/new.yaml')),
      '`web/new.yaml` is a symbolic link',
    ],
    [
      'a dangling link',
      folder => symlinkSync('nowhere', join(folder, 'web/new.yaml')),
      '`web/new.yaml` is a symbolic link',
    ],
    ['a link to a folder', folder => symlinkSync('/tmp', join(folder, 'api')), '`api` is a symbolic link'],
    [
      'a folder of ours that became a link',
      folder => {
        renameSync(join(folder, 'old'), join(folder, 'moved'))
        symlinkSync('moved', join(folder, 'old'))
      },
      '`old` is a symbolic link',
    ],
  ]
  test.each(cases)('%s is refused before anything is written', (_name, disturb, note) => {
    const folder = makeFolder()
    run(folder, { 'web/a.yaml': 'a', 'old/z.yaml': 'z' })
    disturb(folder)
    const before = read(folder)
    const error = failure(() => run(folder, { 'web/a.yaml': 'A', 'web/new.yaml': 'n', 'api/x.yaml': 'x' }))
    expect(error.notes).toEqual([note])
    expect(error.message).toMatch(/in `k8s` would be lost; nothing was written$/)
    expect(error.hint).toContain('--take-over')
    expect(read(folder)).toEqual(before)
  })

  test('a refusal names ten files at most, and counts the rest', () => {
    const files = Object.fromEntries(Array.from({ length: 14 }, (_, i) => [`web/${i}.yaml`, 'x']))
    const folder = makeFolder(Object.fromEntries(Object.keys(files).map(path => [path, 'mine'])))
    const error = failure(() => run(folder, files))
    expect(error.message).toBe('14 files in `k8s` would be lost; nothing was written')
    expect(error.notes.length).toBe(11)
    expect(error.notes.at(-1)).toBe('and 4 more')
  })

  test('`--take-over` replaces and removes files, but no links and folders', () => {
    const folder = makeFolder()
    run(folder, { 'web/a.yaml': 'a', 'old/z.yaml': 'z' })
    write(folder, { 'web/a.yaml': 'edited', 'old/z.yaml': 'edited', 'web/new.yaml': 'mine' })
    run(folder, { 'web/a.yaml': 'A', 'web/new.yaml': 'n' }, { takeOver: true })
    expect(contents(folder)).toEqual({ 'web/a.yaml': 'A', 'web/new.yaml': 'n' })
    symlinkSync('/etc/hostname', join(folder, 'web/link.yaml'))
    failure(() => run(folder, { 'web/link.yaml': 'x' }, { takeOver: true }))
    expect(lstatSync(join(folder, 'web/link.yaml')).isSymbolicLink()).toBe(true)
  })

  test('the manifests of another application are refused', () => {
    const folder = makeFolder()
    run(folder, { 'web/a.yaml': 'a' })
    const error = failure(() => run(folder, { 'web/b.yaml': 'b' }, { application: 'blog' }))
    expect(error.message).toBe('`k8s` contains the manifests of the application `shop`, not of `blog`')
    run(folder, { 'web/b.yaml': 'b' }, { application: 'blog', takeOver: true })
    expect(contents(folder)).toEqual({ 'web/b.yaml': 'b' })
  })

  test('a file in the place of the folder is refused', () => {
    const folder = makeFolder({ k8s: 'mine' })
    expect(failure(() => run(join(folder, 'k8s'), { 'a.yaml': 'a' })).message).toBe('`k8s` is not a folder')
    expect(failure(() => run(join(folder, 'k8s/below'), { 'a.yaml': 'a' })).message).toContain('cannot write to `k8s`')
    expect(read(folder)).toEqual({ k8s: 'mine' })
  })

  test('line ends that git has changed are no edit', () => {
    const folder = makeFolder()
    run(folder, { 'web/a.yaml': 'a\nb\n' })
    write(folder, { 'web/a.yaml': 'a\r\nb\r\n' })
    run(folder, { 'web/a.yaml': 'a\nc\n' })
    expect(contents(folder)).toEqual({ 'web/a.yaml': 'a\nc\n' })
  })
})

describe('a run for some services', () => {
  test('a run for some services removes nothing, and keeps the record of the rest', () => {
    const folder = makeFolder()
    run(folder, { 'web/a.yaml': 'a', 'db/b.yaml': 'b' }, { index: true })
    run(folder, { 'web/a2.yaml': 'a2' }, { keepOthers: true })
    expect(Object.keys(contents(folder))).toEqual(['db/b.yaml', 'kustomization.yaml', 'web/a.yaml', 'web/a2.yaml'])
    expect(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')).toBe(
      'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - db/b.yaml\n  - web/a.yaml\n  - web/a2.yaml\n',
    )
    expect(run(folder, { 'db/b.yaml': 'b' }).removed).toBe(3)
  })

  test('a run for some services lists no other files than manifests in the index', () => {
    const folder = makeFolder()
    run(folder, { 'README.md': 'text', 'web/a.yaml': 'a', 'kustomization.yaml': 'resources: [web/a.yaml]\n' })
    run(folder, { 'db/b.yml': 'b', 'db/c.json': '{}' }, { keepOthers: true })
    expect(read(folder)['kustomization.yaml']).toBe(
      'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - db/b.yml\n  - db/c.json\n  - web/a.yaml\n',
    )
    expect(read(folder)['README.md']).toBe('text')
  })

  test('a run for some services does not accept a manual edit of the rest', () => {
    const folder = makeFolder()
    run(folder, { 'web/a.yaml': 'a', 'db/b.yaml': 'b' })
    write(folder, { 'db/b.yaml': 'edited' })
    run(folder, { 'web/a.yaml': 'A' }, { keepOthers: true })
    expect(failure(() => run(folder, { 'web/a.yaml': 'A' })).notes).toEqual([
      '`db/b.yaml` was edited by hand since devctl wrote it',
    ])
  })
})

describe('a run that was killed', () => {
  const lockOf = (files: Readonly<Record<string, string>>, pending: Readonly<Record<string, string>>) => {
    const prints = (all: Readonly<Record<string, string>>) =>
      new Map(Object.entries(all).map(([path, content]) => [path, fingerprint(path, content)]))
    return printLock({ application: 'shop', sources: [], files: prints(files), pending: prints(pending) })
  }

  test('the next run completes a killed run, wherever it stopped', () => {
    const before = { 'web/a.yaml': 'a', 'web/gone.yaml': 'g' }
    const wanted = { 'web/a.yaml': 'A', 'web/b.yaml': 'b', 'api/c.yaml': 'c' }
    const moments: readonly Readonly<Record<string, string>>[] = [
      before,
      { ...before, 'web/a.yaml.devctl-tmp': 'half' },
      { ...before, 'web/a.yaml.devctl-tmp': 'A', 'web/b.yaml.devctl-tmp': 'b', [`${LOCK_NAME}.devctl-tmp`]: '{' },
      { ...before, 'web/a.yaml': 'A', 'web/b.yaml.devctl-tmp': 'b', 'api/c.yaml.devctl-tmp': 'c' },
      { ...before, ...wanted },
      wanted,
    ]
    for (const moment of moments) {
      const folder = makeFolder({ ...moment, [LOCK_NAME]: lockOf(before, wanted) })
      run(folder, wanted)
      expect(contents(folder)).toEqual(wanted)
      const lock = parseLock(readFileSync(join(folder, LOCK_NAME), 'utf8'), 'lock')
      expect([...lock.files.keys()]).toEqual(Object.keys(wanted).sort())
      expect(lock.pending.size).toBe(0)
    }
  })

  test('a run completes what a killed and a failed run have begun', () => {
    // The first run wrote `A`, which no `files` of a lock has seen; the second stops when it wants to write `AA`.
    const folder = makeFolder({ 'web/a.yaml': 'A', [LOCK_NAME]: lockOf({ 'web/a.yaml': 'a' }, { 'web/a.yaml': 'A' }) })
    write(folder, { 'web/a.yaml.devctl-tmp': 'half', 'web/b.yaml.devctl-tmp': 'theirs' })
    failure(() => run(folder, { 'web/a.yaml': 'AA', 'web/b.yaml': 'b' }))
    rmSync(join(folder, 'web/b.yaml.devctl-tmp'))
    run(folder, { 'web/a.yaml': 'AA', 'web/b.yaml': 'b' })
    expect(contents(folder)).toEqual({ 'web/a.yaml': 'AA', 'web/b.yaml': 'b' })
  })

  test('planChange lists the present files of a killed run', () => {
    const folder = makeFolder({ 'web/a.yaml': 'A', [LOCK_NAME]: lockOf({ 'web/a.yaml': 'a' }, { 'web/a.yaml': 'A' }) })
    const change = planChange(folder, 'k8s', output({ 'web/a.yaml': 'AA' }))
    expect([...change.present]).toEqual([['web/a.yaml', fingerprint('', 'A')]])
  })

  test('the next run deletes what a killed run has written, if it wants other files', () => {
    const folder = makeFolder({
      'api/c.yaml.devctl-tmp': 'half',
      'web/b.yaml': 'b',
      [LOCK_NAME]: lockOf({}, { 'web/b.yaml': 'b', 'api/c.yaml': 'c' }),
    })
    run(folder, { 'db/d.yaml': 'd' })
    expect(contents(folder)).toEqual({ 'db/d.yaml': 'd' })
    expect(readdirSync(folder).sort()).toEqual([LOCK_NAME, 'db'])
  })
})

test('a write that fails leaves the folder as it was', () => {
  const folder = makeFolder()
  run(folder, { 'web/a.yaml': 'a' })
  const before = read(folder)
  // A temporary file that no lock knows means that another process is at work.
  write(folder, { 'web/b.yaml.devctl-tmp': 'theirs' })
  const error = failure(() => run(folder, { 'api/x.yaml': 'x', 'web/a.yaml': 'A', 'web/b.yaml': 'b' }))
  expect(error.message).toBe('cannot write to `k8s`: another devctl seems to be writing there')
  expect(read(folder)).toEqual({ ...before, 'web/b.yaml.devctl-tmp': 'theirs' })
  expect(readdirSync(folder).sort()).toEqual([LOCK_NAME, 'web'])
})

test('a first write that fails leaves no folder', () => {
  const folder = makeFolder({ 'mine.txt': '' })
  failure(() => run(join(folder, 'a/b'), { [`web/${'x'.repeat(300)}.yaml`]: 'x' }))
  expect(readdirSync(folder)).toEqual(['mine.txt'])
})

test.skipIf(process.platform !== 'linux')('a folder that cannot be created is refused', () => {
  const folder = makeFolder({ file: '' })
  symlinkSync('nowhere', join(folder, 'link'))
  const message = (path: string) => failure(() => run(path, { 'web/a.yaml': 'a' })).message
  expect(message(join(folder, 'file/x'))).toBe('cannot write to `k8s`: a part of its path is a file')
  expect(message(join(folder, 'link'))).toBe(`\`${join(folder, 'link')}\` is a symbolic link that leads nowhere`)
  expect(message(join(folder, 'link/x/y'))).toBe(`\`${join(folder, 'link')}\` is a symbolic link that leads nowhere`)
  expect(message('/proc/devctl')).toBe('cannot write to `k8s`: a folder cannot be created there')
  expect(read(folder)).toEqual({ file: '' })
})

describe('a lock', () => {
  test.each<readonly [string, string, string]>([
    ['empty', '', 'is damaged: it is empty'],
    ['a list', '[]', 'is damaged: it must be an object'],
    ['of a later version', '{"version": 3}', 'was written by another version of devctl'],
    ['without files', '{"version": 1, "environment": "a"}', 'is damaged: `files` is missing'],
    ['without an application', '{"version": 2, "files": {}}', 'is damaged: `application` is missing'],
    [
      'with a file that has no fingerprint',
      '{"version": 2, "application": "shop", "files": {"web/a.yaml": null}}',
      'is damaged: `files["web/a.yaml"]` must be a string',
    ],
    [
      'with a commit that is none',
      '{"version": 2, "application": "shop", "files": {}, "source": {"commit": "main"}}',
      'is damaged: `source.commit` is not valid',
    ],
    ...['../x', '/etc/passwd', 'a/../../x', 'a//b', '', 'C:\\x', '.', LOCK_NAME].map(
      path =>
        [
          `with the path ${path}`,
          JSON.stringify({ version: 1, environment: 'shop', sources: [], files: { [path]: 'sha256:0' } }),
          `names a file outside its folder: \`${path}\``,
        ] as const,
    ),
    ...['../x', '/etc', 'a/../..', ''].map(
      path =>
        [
          `with the user ${path}`,
          JSON.stringify({ version: 1, environment: 'shop', sources: [], files: {}, uses: { [path]: 'base-0' } }),
          `names a folder outside the repository: \`${path}\``,
        ] as const,
    ),
  ])('a lock that cannot be used stops the run: %s', (_name, text, message) => {
    const folder = makeFolder({ [LOCK_NAME]: text })
    expect(failure(() => run(folder, { 'a/b.yaml': 'b' })).message).toBe(`\`k8s/${LOCK_NAME}\` ${message}`)
    expect(read(folder)).toEqual({ [LOCK_NAME]: text })
  })

  test('a lock with the marks of a merge conflict stops the run', () => {
    const text = '{\n  "version": 2,\n<<<<<<< HEAD\n  "application": "shop"\n}\n'
    const folder = makeFolder({ [LOCK_NAME]: text })
    const { message } = failure(() => run(folder, { 'a/b.yaml': 'b' }))
    expect(message).toContain(`\`k8s/${LOCK_NAME}\` is damaged: it is not valid JSON`)
  })

  test('a lock that is a link is not followed', () => {
    const folder = makeFolder()
    writeFileSync(join(folder, 'target'), '{}')
    symlinkSync('target', join(folder, LOCK_NAME))
    expect(failure(() => run(folder, { 'a/b.yaml': 'b' })).message).toBe(`\`k8s/${LOCK_NAME}\` is a symbolic link`)
  })

  test('the fingerprint of a Secret does not depend on its data', () => {
    const secret = (value: string) =>
      `# compose.yaml#secrets.a\nkind: Secret\nmetadata:\n  name: a\ndata:\n  key: ${value}\ntype: Opaque\n`
    const path = '_shared/secret-a.yaml'
    expect(fingerprint(path, secret('YQ=='))).toBe(fingerprint(path, secret('Yg==')))
    expect(fingerprint(path, secret('YQ=='))).not.toBe(fingerprint(path, secret('YQ==').replace('Opaque', 'x')))
    expect(fingerprint('web/deployment-a.yaml', secret('a'))).not.toBe(
      fingerprint('web/deployment-a.yaml', secret('b')),
    )
    const json = (value: string) =>
      `${JSON.stringify({ kind: 'Secret', data: { key: value }, type: 'x' }, undefined, 2)}\n`
    expect(fingerprint('a/secret-a.json', json('a'))).toBe(fingerprint('a/secret-a.json', json('b')))
  })
})
