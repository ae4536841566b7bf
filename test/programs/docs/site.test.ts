import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, extname, join, normalize, relative } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { lacks } from '../../support/lacks.ts'

const CHROMIUM = [process.env['CHROMIUM'], '/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(
  path => path !== undefined && existsSync(path),
)
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

const site = mkdtempSync(join(tmpdir(), 'devctl-site-'))
let server: Server
let address: string
const files = () =>
  readdirSync(site, { recursive: true, encoding: 'utf8' }).filter(name => statSync(join(site, name)).isFile())

beforeAll(async () => {
  const { buildSite } = await import('../../../scripts/site/build.mjs' as string)
  await buildSite(site)
  server = createServer(({ url = '' }, response) => {
    const path = join(site, normalize(new URL(url, 'http://site').pathname).replace(/^\/docs\//, ''))
    if (!existsSync(path)) return response.writeHead(404).end()
    return response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'text/plain' }).end(readFileSync(path))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  // The site is below a path, as on the pages of a forge.
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/docs`
}, 60_000)

afterAll(() => {
  server?.close()
  rmSync(site, { recursive: true, force: true })
})

test('every page of docs/ is in the table of contents, except those of messages and commands', () => {
  const contents = readFileSync(join(root, 'docs/README.md'), 'utf8')
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter(
    name => name.endsWith('.md') && name !== 'README.md' && !/^(diagnostics|cli)\//.test(name),
  )
  expect(pages.length).toBeGreaterThan(10)
  expect(pages.filter(name => !contents.includes(`](${name})`))).toEqual([])
})

test('every link and picture of the site leads to a file and an element that exist', () => {
  const broken: string[] = []
  for (const name of files().filter(one => one.endsWith('.html'))) {
    const text = readFileSync(join(site, name), 'utf8')
    for (const [, link = ''] of text.matchAll(/ (?:href|src)="([^"]*)"/g)) {
      if (/^[a-z]+:/.test(link)) continue
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? name : relative(site, join(site, dirname(name), path))
      const isThere = existsSync(join(site, target))
      const hasAnchor = !anchor || (isThere && readFileSync(join(site, target), 'utf8').includes(`id="${anchor}"`))
      if (!isThere || !hasAnchor) broken.push(`${name}: ${link}`)
    }
  }
  expect(broken).toEqual([])
})

test('a link to a section that does not exist is refused with its place', async () => {
  const { refuseBrokenLinks } = await import('../../../scripts/site/build.mjs' as string)
  const page = { html: '<h2 id="there"></h2>', links: [{ path: 'docs/a.md', anchor: 'gone' }] }
  expect(() => refuseBrokenLinks(new Map([['docs/a.md', page]]))).toThrow('docs/a.md: docs/a.md#gone')
})

lacks('chromium', CHROMIUM === undefined)
describe.skipIf(CHROMIUM === undefined)('in a browser', () => {
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox', '--disable-gpu'] })
    page = await browser.newPage()
  }, 60_000)
  afterAll(() => browser?.close())

  test('the search finds a section by a key, and its result opens it', async () => {
    await page.goto(`${address}/index.html`)
    await page.keyboard.press('/')
    await page.keyboard.type('x-expose')
    await page.locator('#results a').first().waitFor()
    expect(await page.locator('#search-status').textContent()).toMatch(/^\d+ results$/)
    await page.locator('#results a').first().click()
    await page.waitForURL(/\/docs\/(?!index).+\.html/)
    expect(await page.locator('main').textContent()).toContain('x-expose')
  })

  test('a search without a result says so, and Escape clears it', async () => {
    await page.goto(`${address}/diagnostics/ports.html`)
    await page.locator('#search').fill('qqqqzzzz')
    await expect.poll(() => page.locator('#search-status').textContent()).toBe('nothing found')
    await page.locator('#search').press('Escape')
    expect(await page.locator('#search').inputValue()).toBe('')
  })

  test.each(['index.html', 'comparison.html', 'diagnostics/ports.html'])(
    '%s is accessible in both colour schemes and fits a narrow window',
    async name => {
      await page.goto(`${address}/${name}`)
      await page.evaluate(axeSource)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        const { violations } = (await page.evaluate('axe.run()')) as { violations: readonly { id: string }[] }
        expect(violations.map(({ id }) => id)).toEqual([])
      }
      await page.setViewportSize({ width: 360, height: 700 })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
      await page.setViewportSize({ width: 1280, height: 800 })
    },
    60_000,
  )
})
