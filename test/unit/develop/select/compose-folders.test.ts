import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CompilerHost, Outside } from '../../../../compiler/host.ts'
import { watchFilter } from '../../../../develop/files/watch-patterns.ts'
import { composeFolders } from '../../../../develop/select/compose-folders.ts'
import { folderRules } from '../../../../develop/select/folder-rules.ts'
import { toRules } from '../../../../sync/scan/ignore-source.ts'
import { planOf } from '../../../support/plan/compose.ts'

const files = {
  Dockerfile: 'FROM node:22\n',
  '.dockerignore': 'dist\n**/*.log\n',
  'package.json': '{}',
  'src/index.ts': '',
  'src/lib/a.ts': '',
  'src/gen/b.ts': '',
  'assets/logo.svg': '',
  'config/app.yml': '',
  'node_modules/x/index.js': '',
}

function folders(service: string, { outside = {} }: { readonly outside?: Readonly<Record<string, Outside>> } = {}) {
  const { project, host } = planOf(`services: {web: {build: ., ${service}}}\nvolumes: {data: {}}\n`, {}, files)
  const own: CompilerHost = { ...host, outside: path => outside[path] }
  const found = composeFolders(project.services.get('web')!, own)
  return {
    ...found,
    shown: found.folders.map(
      ({ local, remote, file, excluded, rules, direction }) =>
        `${local}${file === undefined ? '' : ` (${file})`}:${remote} ${direction}${excluded.length > 0 ? ` without ${excluded.join(' ')}` : ''}${rules.length > 0 ? ` by ${rules.length}` : ''}`,
    ),
    texts: found.problems.map(({ text }) => text),
  }
}

/** Returns the paths of /project that are synchronized. */
function travelling(service: string, paths: readonly string[], index = 0): readonly string[] {
  const rules = toRules(folderRules(folders(service).folders[index]!), () => false)
  return paths.filter(path => {
    const parts = path.replace(/\/$/, '').split('/')
    const parents = parts.slice(0, -1).map((_, at) => parts.slice(0, at + 1).join('/'))
    return (
      parents.every(parent => !rules.ignores(parent, true) || rules.mayHoldIncluded(parent)) &&
      !rules.ignores(parts.join('/'), path.endsWith('/'))
    )
  })
}

describe('host volumes', () => {
  test('host volumes are synchronized in both directions, without paths that other mounts hide', () => {
    const { shown, texts } = folders(
      'volumes: [".:/app", "/app/node_modules", "data:/app/data", "./config:/app/config"], tmpfs: ["/app/tmp"]',
    )
    expect(shown).toEqual([
      '/project:/app both without node_modules data config tmp',
      '/project/config:/app/config both',
    ])
    expect(texts).toEqual([])
  })

  test('host volumes outside the project are left out, unless they are allowed', () => {
    const { shown, texts } = folders('volumes: [".:/app", "./src:/a", "./config:/b", "./assets:/c"]', {
      outside: {
        '/project/src': { path: '/home/user/.aws', is: 'read' },
        '/project/config': { path: '/proc', is: 'system' },
        '/project/assets': { path: '/shared', is: 'allowed' },
      },
    })
    expect(shown).toEqual(['/project:/app both', '/project/assets:/c both'])
    expect(texts).toEqual(['`/project/src` is outside the project and is not synchronized'])
  })

  test('a host volume can be a single file, without the other files of its folder', () => {
    const { shown, texts } = folders('volumes: [".:/app", "./config/app.yml:/etc/app.yml:ro", "./.env:/app/.env"]')
    expect(shown).toEqual(['/project:/app both without .env', '/project/config (app.yml):/etc/app.yml both'])
    expect(texts).toEqual([])
    const paths = ['app.yml', 'other.yml', 'x/app.yml']
    expect(travelling('volumes: ["./config/app.yml:/etc/app.yml"]', paths)).toEqual(['app.yml'])
    expect(folders('volumes: [{type: bind, source: ./package.json, target: /p, x-mount: secret}]').shown).toEqual([])
  })

  test('host volumes include files of .dockerignore, but no mount points and no .git', () => {
    const paths = ['src/index.ts', 'dist/main.js', 'a.log', 'node_modules/', 'node_modules/x/index.js', '.git/HEAD']
    expect(travelling('volumes: [".:/app", "/app/node_modules"]', paths)).toEqual([
      'src/index.ts',
      'dist/main.js',
      'a.log',
    ])
  })
})

describe('rules of `develop.watch` that copy files', () => {
  const watch = (...rules: readonly string[]) => `develop: {watch: [${rules.join(', ')}]}`
  const SRC = '{path: ./src, action: sync, target: /app/src}'

  test('rules are folders synchronized up; a relative target is in the working directory', () => {
    expect(folders(watch(SRC)).shown).toEqual(['/project/src:/app/src up by 1'])
    expect(folders(`working_dir: /srv, ${watch('{path: ./src, action: sync+restart, target: src/}')}`).shown).toEqual([
      '/project/src:/srv/src up by 1',
    ])
  })

  test('rules are covered by a host volume with the same paths', () => {
    expect(folders(`volumes: [".:/app"], ${watch(SRC)}`).shown).toEqual(['/project:/app both'])
    // A rule with another target is another folder.
    expect(folders(`volumes: [".:/app"], ${watch('{path: ./src, action: sync, target: /other}')}`).shown).toEqual([
      '/project:/app both',
      '/project/src:/other up by 1',
    ])
    const file = watch('{path: ./config/app.yml, action: sync+restart, target: /etc/app.yml}')
    expect(folders(`volumes: ["./config/app.yml:/etc/app.yml"], ${file}`).shown).toEqual([
      '/project/config (app.yml):/etc/app.yml both',
    ])
    // A host volume in a watched folder stays a mount of its own.
    expect(folders(`volumes: ["./src:/app/src"], ${watch('{path: ., action: sync, target: /app}')}`).shown).toEqual([
      '/project/src:/app/src both',
      '/project:/app up without src by 1',
    ])
  })

  test('rules that belong together become one folder', () => {
    const file = '{path: ./package.json, action: sync+restart, target: /app/package.json}'
    expect(folders(watch(SRC, '{path: ., action: sync, target: /app, ignore: [src/]}', file)).shown).toEqual([
      '/project:/app up by 3',
    ])
    expect(folders(watch(SRC, file)).shown).toEqual(['/project:/app up by 2'])
  })

  test('rules with a used target, a missing path or a renamed file are left out', () => {
    const { shown, texts } = folders(
      watch(
        SRC,
        '{path: ./assets, action: sync, target: /app/src}',
        '{path: ./none, action: sync, target: /none}',
        '{path: ./package.json, action: sync, target: /app/other.json}',
      ),
    )
    expect(shown).toEqual(['/project/src:/app/src up by 1'])
    expect(texts).toEqual([
      '`/project/none` does not exist and is not synchronized',
      '`/project/package.json` is not synchronized to `/app/other.json`: a single file keeps its name',
      '`/project/assets` is not synchronized: `/app/src` is `/project/src` already',
    ])
  })

  const PATHS = [
    'package.json',
    'README.md',
    'src/',
    'src/index.ts',
    'src/debug.log',
    'src/gen/',
    'src/gen/b.ts',
    'src/lib/a.ts',
    'assets/logo.svg',
    'dist/',
    'dist/main.js',
    '.git/HEAD',
  ]

  test.each<[string, readonly string[], readonly string[]]>([
    [
      'all but .dockerignore and `ignore`',
      ['{path: ., action: sync, target: /app, ignore: [src/gen/, "*.md"]}'],
      ['package.json', 'src/', 'src/index.ts', 'src/lib/a.ts', 'assets/logo.svg'],
    ],
    [
      'only `include`',
      ['{path: ., action: sync, target: /app, include: ["src/*.ts", "src/*.log"]}'],
      ['src/', 'src/index.ts', 'src/gen/'],
    ],
    ['a single file', ['{path: ./package.json, action: sync, target: /app/package.json}'], ['package.json']],
    [
      'what any of the rules is about',
      [
        '{path: ., action: sync, target: /app, include: ["*.json"], ignore: [src/]}',
        '{path: ./src, action: sync, target: /app/src, ignore: [gen/]}',
      ],
      ['package.json', 'src/', 'src/index.ts', 'src/lib/a.ts'],
    ],
    [
      'what a pattern takes back',
      ['{path: ., action: sync, target: /app, ignore: ["*", "!src", "src/gen"]}'],
      ['src/', 'src/index.ts', 'src/lib/a.ts'],
    ],
  ])('rules synchronize %s', (_, rules, expected) => {
    const found = travelling(watch(...rules), PATHS)
    // Parent folders may be synchronized without files.
    const isFolder = (path: string) => path.endsWith('/')
    expect(found.filter(path => !isFolder(path))).toEqual(expected.filter(path => !isFolder(path)))
    expect(found).toEqual(expect.arrayContaining([...expected]))
  })

  test('rules do not read folders that they ignore entirely', () => {
    const folder = folders(watch('{path: ., action: sync, target: /app, ignore: [node_modules/]}')).folders[0]!
    const rules = toRules(folderRules(folder), () => false)
    expect(['node_modules', 'node_modules/x', 'dist', 'src'].map(rules.mayHoldIncluded)).toEqual([
      false,
      false,
      false,
      true,
    ])
  })
})

const word = fc.constantFrom('a', 'b', 'a.ts', 'b.log', 'src', '{x}', '#c')
const part = fc.oneof(word, fc.constantFrom('*', '**', '*.ts', '?', 'a*', '[ab]'))
const pattern = fc.array(part, { minLength: 1, maxLength: 4 }).map(parts => parts.join('/'))
const path = fc.array(word, { minLength: 1, maxLength: 4 }).map(parts => parts.join('/'))

test('the rules of the synchronization and the filter of the watch accept the same paths', () => {
  const places = fc.constantFrom(['/p', '/p'], ['/p', '/p/src'], ['/p', '/p/a/src'], ['/p/src', '/p'])
  const patterns = fc.array(pattern, { maxLength: 3 })
  fc.assert(
    fc.property(places, patterns, patterns, patterns, path, ([build, local], ignore, include, left, at) => {
      const rule = {
        path: local!,
        isFolder: true,
        ignore,
        include,
        dockerIgnore: { folder: build!, text: left.join('\n') },
      }
      const source = { ...folderRules({ local: local!, excluded: [], rules: [rule] }), text: '' }
      const rules = toRules(source, () => false)
      const parents = at.split('/').map((_, index, all) => all.slice(0, index).join('/'))
      const isReached = parents.slice(1).every(one => !rules.ignores(one, true) || rules.mayHoldIncluded(one))
      const expected = watchFilter(rule)(`${local}/${at}`)
      expect(isReached && !rules.ignores(at, false)).toBe(expected)
    }),
    { numRuns: 1500, seed: 1 },
  )
})

test('a path that a later pattern of a `.dockerignore` includes again is synchronized', () => {
  const text = '*\n!src\nsrc/gen\n!**/keep.md\n'
  const rule = { path: '/p', isFolder: true, ignore: [], include: [], dockerIgnore: { folder: '/p', text } }
  const rules = toRules(folderRules({ local: '/p', excluded: [], rules: [rule] }), () => false)
  const paths = ['README.md', 'src/a.ts', 'src/gen/b.ts', 'src/gen/keep.md', 'docs/keep.md']
  expect(paths.filter(one => !rules.ignores(one, false))).toEqual(paths.filter(one => watchFilter(rule)(`/p/${one}`)))
  expect(paths.filter(one => !rules.ignores(one, false))).toEqual(['src/a.ts', 'src/gen/keep.md', 'docs/keep.md'])
})
