import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { anchorsOf, linksOf } from '../../support/docs/links.ts'

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter(path => existsSync(join(root, path)))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const pages = tracked.filter(path => path.endsWith('.md') && !path.startsWith('golden/'))

describe('the pages', () => {
  test('no page of docs is longer than 400 lines, and the README has at most 120', () => {
    const long = pages
      .filter(page => page.startsWith('docs/'))
      .map(page => [page, read(page).split('\n').length - 1] as const)
      .filter(([, lines]) => lines > 400)
    expect(long).toEqual([])
    expect(read('README.md').split('\n').length - 1).toBeLessThanOrEqual(120)
  })

  test('every relative link leads to a file and a section that exist', () => {
    const broken = pages.flatMap(page =>
      linksOf(read(page))
        .filter(link => !/^[a-z]+:/.test(link))
        .filter(link => {
          const [path = '', anchor] = link.split('#')
          const target = path === '' ? page : normalize(join(dirname(page), path))
          if (!existsSync(join(root, target))) return true
          return anchor !== undefined && target.endsWith('.md') && !anchorsOf(read(target)).includes(anchor)
        })
        .map(link => `${page}: ${link}`),
    )
    expect(broken).toEqual([])
  })
})

test('every page of docs that a source names exists, and the section, too', () => {
  const sources = tracked.filter(path => /\.(ts|tsx|mjs|cjs|Dockerfile)$/.test(path) && !path.startsWith('test/'))
  const missing = sources.flatMap(source =>
    [...read(source).matchAll(/(?<![\w./-])(docs\/[\w/-]+\.md)(?:#([\w-]+))?/g)]
      .filter(
        ([, page = '', anchor]) => !existsSync(join(root, page)) || (anchor && !anchorsOf(read(page)).includes(anchor)),
      )
      .map(([link]) => `${source}: ${link}`),
  )
  expect(missing).toEqual([])
})
