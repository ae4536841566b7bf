import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { repository, stagePackage } from '../../../scripts/release/package.mjs'
import { root } from '../../support/cases.ts'
import { anchorsOf, linksOf } from '../../support/docs/links.ts'

describe('the pages of the npm package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-package-'))
  let pages: readonly string[] = []
  beforeAll(() => {
    pages = stagePackage(folder).filter((path: string) => path.endsWith('.md'))
  }, 60_000)
  afterAll(() => rmSync(folder, { recursive: true }))

  const read = (page: string) => readFileSync(join(folder, page), 'utf8')
  const linksIn = (page: string) => linksOf(read(page)).map(link => ({ page, link }))

  test('the package has the README, the changelog and all pages of docs', () => {
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md', 'docs/README.md', 'docs/deploy.md']))
    expect(pages.length).toBeGreaterThan(150)
  })

  test('every relative link leads to a file of the package, and to a section of it', () => {
    const broken = pages
      .flatMap(linksIn)
      .filter(({ link }) => !/^[a-z]+:/.test(link))
      .filter(({ page, link }) => {
        const [path = '', anchor] = link.split('#')
        const target = path === '' ? page : join(dirname(page), path)
        if (!existsSync(join(folder, target))) return true
        return anchor !== undefined && !anchorsOf(read(target)).includes(anchor)
      })
    expect(broken).toEqual([])
  })

  test('every link into the repository leads to a file, a folder or a picture that exists', () => {
    const links = pages.flatMap(linksIn).filter(({ link }) => link.startsWith(`${repository()}/`))
    const found = links.flatMap(({ link }) => /\/(?:blob|tree|raw)\/main\/([^#]+)/.exec(link)?.[1] ?? [])
    expect(found.filter(path => !existsSync(join(root, path)))).toEqual([])
    expect(found).toEqual(
      expect.arrayContaining(['ARCHITECTURE.md', 'examples/README.md', 'docs/platform/environment.webp']),
    )
    expect(found.some(path => path.startsWith('golden/compose/'))).toBe(true)
  })
})
