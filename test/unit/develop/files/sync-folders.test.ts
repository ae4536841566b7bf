import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { UserError } from '../../../../compiler/diagnostics/user-error.ts'
import type { Development } from '../../../../compiler/manifest/development.ts'
import { reservedProblem } from '../../../../compiler/manifest/reserved-paths.ts'
import { SourceFile } from '../../../../compiler/text/source.ts'
import { RUN_PATH, SHARED_PATH, TOOLS_PATH } from '../../../../constructs/mirror/names.ts'
import { localFolders } from '../../../../develop/files/sync-folders.ts'
import type { Boundary } from '../../../../project/boundary.ts'

let root: string
const at = (path: string) => join(root, path)

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'devctl-folders-')))
  for (const path of ['home/project/src', 'home/project/devctl', 'home/.devctl', 'outside'])
    mkdirSync(at(path), { recursive: true })
})
afterEach(() => rmSync(root, { recursive: true }))

const span = { file: new SourceFile('devctl.yml', 'sync'), start: 0, end: 4 }

function folders(
  sync: readonly string[],
  { env = {}, others = 'read', volumes = [], sources = [] }: Options = {},
): ReturnType<typeof localFolders> {
  const all = sync.map(one => ({ span, local: one.split(':')[0]!, remote: one.split(':')[1]! }))
  const declared = {
    sync: { folders: all },
    volumes: volumes.map(value => ({ value, span })),
    externalVolumes: [],
  } as unknown as Development // only the keys about folders are read
  const boundary: Boundary = { folders: [at('home/project')], named: new Set(), others }
  const cwd = at('home/project')
  return localFolders(declared, { folder: cwd, boundary, sources }, { cwd, env: { HOME: at('home'), ...env } })
}
interface Options {
  readonly env?: Readonly<Record<string, string>>
  readonly others?: Boundary['others']
  readonly volumes?: readonly string[]
  readonly sources?: readonly string[]
}

const refusal = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof UserError) return [error.message, ...error.notes, error.hint].join('\n')
    throw error
  }
  throw new Error('nothing was thrown')
}

test('a folder outside the project is refused, also if a link leads there', () => {
  symlinkSync(at('outside'), at('home/project/notes'))
  for (const path of ['notes', '../../outside', at('outside')]) {
    const text = refusal(() => folders([`${path}:/app`]))
    expect(text).toBe(
      `\`${path}\` of \`sync\` is outside the project: \`${at('outside')}\`\ndevctl.yml:1:1\nname a folder of the project, or add \`--allow-outside\` if you trust the manifest`,
    )
    expect(folders([`${path}:/app`], { others: 'allowed' })).toMatchObject([{ local: at('outside'), written: path }])
  }
  expect(refusal(() => folders(['/proc:/app'], { others: 'refused' }))).toContain('outside the project')
})

test('the home folder, its parents, the root and the folder of devctl are always refused', () => {
  symlinkSync(at('home'), at('home/project/me'))
  const refused = (path: string) => refusal(() => folders([`${path}:/app`], { others: 'allowed' })).split('\n')[0]
  expect(refused('~')).toBe('`~` is your home folder and is not synchronized')
  expect(refused('me')).toBe('`me` is your home folder and is not synchronized')
  expect(refused('..')).toBe('`..` is your home folder and is not synchronized')
  expect(refused(root)).toBe(`\`${root}\` holds your home folder and is not synchronized`)
  expect(refused('/')).toBe('`/` is the root folder and is not synchronized')
  expect(refused('~/.devctl')).toBe('`~/.devctl` is the folder of devctl and is not synchronized')
})

test.each([
  ['below the folder', 'home/project/devctl', ['devctl']],
  ['that does not exist yet', 'home/project/src/new/home', ['src/new/home']],
  ['elsewhere', 'outside', []],
])('the folder of devctl %s is never synchronized', (_, home, own) => {
  expect(folders(['.:/app'], { env: { DEVCTL_HOME: at(home) } })).toMatchObject([{ own }])
})

test('the folders of devctl in those of XDG variables are never synchronized', () => {
  const env = { XDG_CONFIG_HOME: at('home/project/config'), XDG_STATE_HOME: at('home/project/state') }
  expect(folders(['.:/app'], { env })).toMatchObject([{ own: ['config/devctl', 'state/devctl'] }])
})

test('links on the way to the folder of devctl are not synchronized', () => {
  symlinkSync('../devctl', at('home/project/src/link'))
  symlinkSync(at('outside'), at('home/project/away'))
  expect(folders(['.:/app'], { env: { DEVCTL_HOME: at('home/project/src/link/x') } })).toMatchObject([
    { own: ['src/link', 'devctl/x'] },
  ])
  expect(folders(['.:/app'], { env: { DEVCTL_HOME: at('home/project/away/x') } })).toMatchObject([{ own: ['away'] }])
  expect(folders(['src:/app'], { env: { DEVCTL_HOME: at('home/project/away/x') } })).toMatchObject([{ own: [] }])
})

test('a mount point inside a synchronized folder is excluded from that folder', () => {
  const found = folders(['.:/app', 'src:/app/src', 'src:/srv'], { volumes: ['/app/cache', '/srv'] })
  expect(found.map(one => one.readIgnores().excluded)).toEqual([['src', 'cache'], [], []])
})

test('reservedProblem refuses the folders of devctl in the container', () => {
  for (const path of [RUN_PATH, SHARED_PATH, TOOLS_PATH]) expect(reservedProblem(path)).toContain('a folder of devctl')
})

test('an ignore file can include only regular files of its folder up to 1 MiB', () => {
  writeFileSync(at('outside/secret'), 'secret')
  symlinkSync(at('outside/secret'), at('home/project/linked'))
  symlinkSync('real', at('home/project/inner'))
  writeFileSync(at('home/project/real'), '*.log')
  writeFileSync(at('home/project/huge'), 'x'.repeat(2_000_000))
  writeFileSync(at('home/project/.stignore'), '#include real')
  expect(folders(['.:/app'])[0]!.readIgnores().includes).toEqual({ real: '*.log' })
  writeFileSync(
    at('home/project/.stignore'),
    '#include linked\n#include inner\n#include ../../outside/secret\n#include devctl\n#include huge\n#include gone\n*.log',
  )
  expect(refusal(() => folders(['.:/app']))).toBe(
    [
      'the ignore file of `.` has errors',
      '.stignore:1: `linked` leads out of the folder',
      '.stignore:2: `inner` is a link',
      '.stignore:3: `../../outside/secret` leads out of the folder',
      '.stignore:4: `devctl` is not a file',
      '.stignore:5: `huge` is larger than 1 MiB',
      '.stignore:6: the included file `gone` does not exist',
      'correct them; included files are in the folder',
    ].join('\n'),
  )
  rmSync(at('home/project/.stignore'))
  symlinkSync(at('outside/secret'), at('home/project/.stignore'))
  expect(refusal(() => folders(['.:/app']))).toContain('.stignore:1: `.stignore` leads out of the folder')
})

test('files that the session was read from are only changed locally, also behind links', () => {
  writeFileSync(at('home/project/src/web.env'), '')
  writeFileSync(at('home/project/team.yaml'), '')
  symlinkSync(at('home/project/src'), at('home/project/linked'))
  const sources = ['team.yaml', 'linked/web.env', 'src/missing.env'].map(path => at(`home/project/${path}`))
  const paths = folders(['.:/app', 'src:/src'], { sources }).map(({ onlyHere }) => [...onlyHere].sort())
  expect(paths).toEqual([
    ['linked/web.env', 'src/missing.env', 'src/web.env', 'team.yaml'],
    ['missing.env', 'web.env'],
  ])
})
