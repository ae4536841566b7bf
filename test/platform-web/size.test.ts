import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { bundleWeb } from '../../scripts/bundle-web.mjs'

/** Bytes of the first page as they are sent: what it loads, besides the font. */
const MOST = 60_000
const FONT = 50_000

test('the first page is small, and everything in it is ours', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'devctl-web-'))
  try {
    await bundleWeb(folder)
    const index = readFileSync(join(folder, 'index.html'), 'utf8')
    const assets = readdirSync(join(folder, 'assets'))
    const sizes = assets.map(name => {
      const bytes = readFileSync(join(folder, 'assets', name))
      return { name, size: extname(name) === '.woff2' ? bytes.length : gzipSync(bytes, { level: 9 }).length }
    })
    const fonts = sizes.filter(({ name }) => extname(name) === '.woff2')
    // Parts that are loaded later count, too, as long as that fits.
    const others = sizes.filter(({ name }) => ['.js', '.css', '.svg'].includes(extname(name)))
    expect(others.reduce((sum, one) => sum + one.size, gzipSync(index).length)).toBeLessThan(MOST)
    expect(fonts).toHaveLength(1)
    expect(fonts[0]?.size).toBeLessThan(FONT)
    // Each file has the hash of its content in its name, and the page names no other place.
    for (const { name } of sizes) expect(name).toMatch(/-[A-Z0-9]{8}\.\w+$/)
    expect(index).not.toMatch(/https?:|<style|style=|<script(?! (type="module" )?src="\/assets\/)| on\w+=/)
    const addresses = [...index.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address)
    expect(addresses.toSorted()).toEqual([...new Set(addresses)].toSorted())
    for (const address of addresses) expect(assets).toContain(address.replace('/assets/', ''))
  } finally {
    await rm(folder, { recursive: true })
  }
})
