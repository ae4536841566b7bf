import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { ActionRule } from '../../../../develop/files/watch-actions.ts'
import { watchPaths } from '../../../../develop/files/watch-paths.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

const rule = (path: string, more: Partial<ActionRule['patterns']> = {}): ActionRule => ({
  action: 'restart',
  patterns: { path, isFolder: true, ignore: [], include: [], ...more },
})

/** Starts a watch, and returns the changed paths and a function that waits for one. */
async function watching(rules: readonly ActionRule[]) {
  const seen = new Set<string>()
  let told = () => {}
  closing.push(
    await watchPaths(rules, {
      rescanInterval: 0,
      changed: paths => {
        for (const path of paths) seen.add(path)
        told()
      },
      problem: (path, error) => {
        throw new Error(path, { cause: error })
      },
    }),
  )
  const until = (path: string) =>
    new Promise<readonly string[]>((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`no change of ${path}: ${[...seen]}`)), 10_000)
      told = () => {
        if (!seen.has(path)) return
        clearTimeout(limit)
        resolve([...seen].sort())
      }
      told()
    })
  return { seen, until }
}

test('watchPaths reports written, renamed and deleted files, but not ignored ones', async () => {
  const folder = makeFolder({
    'src/a.ts': '',
    'src/b.ts': '',
    'src/gen/c.ts': '',
    'src/.git/HEAD': '',
    'other/d.ts': '',
  })
  const src = join(folder, 'src')
  const { seen, until } = await watching([rule(src, { ignore: ['gen/'] })])
  expect([...seen]).toEqual([])
  writeFileSync(join(folder, 'other/d.ts'), 'x')
  writeFileSync(join(src, 'gen/c.ts'), 'x')
  writeFileSync(join(src, '.git/HEAD'), 'x')
  rmSync(join(src, 'b.ts'))
  writeFileSync(join(src, 'a.ts.new'), 'longer')
  renameSync(join(src, 'a.ts.new'), join(src, 'a.ts'))
  mkdirSync(join(src, 'deep/er'), { recursive: true })
  writeFileSync(join(src, 'deep/er/e.ts'), 'x')
  await until(join(src, 'a.ts'))
  await until(join(src, 'b.ts'))
  const found = await until(join(src, 'deep/er/e.ts'))
  expect(found.filter(path => /gen|git|other/.test(path))).toEqual([])
})

test('watchPaths watches a single file, and a folder inside a watched one', async () => {
  const folder = makeFolder({ 'package.json': '{}', 'README.md': '', 'src/a.ts': '', 'src/lib/b.ts': '' })
  const { until } = await watching([
    rule(join(folder, 'src/lib')),
    rule(join(folder, 'package.json'), { isFolder: false }),
    rule(join(folder, 'src')),
  ])
  writeFileSync(join(folder, 'README.md'), 'x')
  writeFileSync(join(folder, 'src/lib/b.ts'), 'x')
  writeFileSync(join(folder, 'package.json'), '{"a": 1}')
  await until(join(folder, 'src/lib/b.ts'))
  const found = await until(join(folder, 'package.json'))
  expect(found).not.toContain(join(folder, 'README.md'))
})
