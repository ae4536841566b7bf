import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { root } from '../../../support/cases.ts'

/** Limits in bytes: the compressed files of the first page without the font, those of all pages, and the font. */
const MOST = 60_000
const ALL = 95_000
const FONT = 30_000

test('the first page is small, and loads only files of the platform', () => {
  const folder = join(root, 'dist/platform/web')
  const index = readFileSync(join(folder, 'index.html'), 'utf8')
  const assets = readdirSync(join(folder, 'assets'))
  const sizes = assets.map(name => {
    const bytes = readFileSync(join(folder, 'assets', name))
    return { name, size: extname(name) === '.woff2' ? bytes.length : gzipSync(bytes, { level: 9 }).length }
  })
  const fonts = sizes.filter(({ name }) => extname(name) === '.woff2')
  const first = loadedBy(index, name => readFileSync(join(folder, 'assets', name), 'utf8'))
  const sizeOf = (names: ReadonlySet<string>) =>
    sizes.filter(({ name }) => names.has(name)).reduce((sum, one) => sum + one.size, gzipSync(index).length)
  const isText = (name: string) => ['.js', '.css', '.svg'].includes(extname(name))
  expect(sizeOf(new Set([...first].filter(isText)))).toBeLessThan(MOST)
  expect(sizeOf(new Set(assets.filter(isText)))).toBeLessThan(ALL)
  // Pages with logs are not among the files that every visitor loads.
  expect(first.size).toBeLessThan(assets.length)
  expect(fonts).toHaveLength(1)
  expect(fonts[0]?.size).toBeLessThan(FONT)
  // Each file has the hash of its content in its name, and the page names no other place.
  for (const { name } of sizes) expect(name).toMatch(/-[A-Z0-9]{8}\.\w+$/)
  expect(index).not.toMatch(/https?:|<style|style=|<script(?! (type="module" )?src="\/assets\/)| on\w+=/)
  const addresses = [...index.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address)
  expect(addresses.toSorted()).toEqual([...new Set(addresses)].toSorted())
  for (const address of addresses) expect(assets).toContain(address.replace('/assets/', ''))
})

/** The files that a page names, and those that they import before they run; not what they load later. */
function loadedBy(index: string, read: (name: string) => string): ReadonlySet<string> {
  const found = new Set<string>()
  const add = (name: string) => {
    if (found.has(name)) return
    found.add(name)
    if (extname(name) !== '.js') return
    for (const [, other = ''] of read(name).matchAll(/(?:\bfrom|\bimport)\s*"\.\/([^"]+)"/g)) add(other)
  }
  for (const [, name = ''] of index.matchAll(/(?:src|href)="\/assets\/([^"]+)"/g)) add(name)
  return found
}
