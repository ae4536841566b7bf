import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { makeAuthority, makeCertificate } from '../../../platform/install/certificates/certificates.ts'
import { readWebFiles } from '../../../platform/server/http/pages.ts'
import { root } from '../../support/cases.ts'
import { freePort } from '../../support/develop/free-port.ts'
import { lacks } from '../../support/lacks.ts'
import { openPlatform, type TestPlatform } from '../../support/platform/open-platform.ts'
import { openStubForge, type StubForge } from '../../support/platform/stub-forge.ts'
import { type PlayedLogs, playLogs } from './play-logs.ts'
import { named, PICTURES } from './shown.ts'

/** Path of the browser: `$CHROMIUM`, or Debian's; the headless shell takes half of the time. */
const CHROMIUM = [process.env['CHROMIUM'], '/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(
  path => path !== undefined && existsSync(path),
)

/** Reason why the browser tests are skipped here; undefined where they run. */
export const NO_BROWSER =
  process.env['KUBECONFIG'] === undefined ? 'no KUBECONFIG' : CHROMIUM === undefined ? 'no chromium' : undefined

if (process.env['KUBECONFIG'] !== undefined) lacks('chromium', CHROMIUM === undefined)

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export interface Look {
  readonly width?: number
  readonly height?: number
  readonly scheme?: 'light' | 'dark'
}

const NETWORK_CHANGED = 'net::ERR_NETWORK_CHANGED'
/**
 * A page of an error, as of a reload that a change of the network ended, came first; or the browser itself loaded the
 * same page again.
 */
const INTERRUPTED = /Navigation to "([^"]*)" is interrupted by another navigation to "(?:chrome-error:|\1")/
const USUAL = { width: 1280, height: 800, scheme: 'light' } as const

/** Page that a user sees in a browser. */
export interface Seen {
  readonly page: Page
  /** Messages that the browser logged: refused scripts and styles, and our errors. */
  readonly complaints: readonly string[]
  /** Gives the page another size and other colours. */
  change(look: Look): Promise<void>
  close(): Promise<void>
}

/** A platform in this process, and a browser before it. */
export interface TestBrowser {
  readonly platform: TestPlatform
  readonly url: string
  readonly logs: PlayedLogs
  /** Stub of git.example.com. */
  readonly forge: StubForge
  /** Opens a new browser for a user, with their session if a login is given. */
  open(who: string | undefined, look?: Look): Promise<Seen>
  /**
   * Opens another page in the one browser that a user has for all visits, which has loaded scripts and fonts before.
   */
  visit(who: string | undefined, look?: Look): Promise<Seen>
  /** Logs a user in, in a browser that is open. */
  enter(context: BrowserContext, who: string): Promise<void>
  close(): Promise<void>
}

export async function openBrowser(): Promise<TestBrowser> {
  const port = await freePort()
  // Browsers treat this name as a safe origin, so that the cookie of the session is accepted. In pictures, the address
  // is that of the documentation.
  const url = PICTURES === undefined ? `http://localhost:${port}` : SHOWN_URL
  const web = readWebFiles(join(root, 'dist/platform/web'))
  if (!web) throw new Error('the pages are not built: npm run build')
  const forge = await openStubForge()
  const platform = await openPlatform(
    {
      url,
      loginOf: named,
      forges: [{ kind: 'gitea', url: 'https://git.example.com', api: forge.api }],
      ci: [{ kind: 'gitea', issuer: 'https://git.example.com', rules: [{ repository: '7', prefix: 'ci-shop-' }] }],
      // No test builds an image.
      builders: { default: ['tcp://builder-0.builders.example.com:1234'], untrusted: [], atOnce: 4 },
    },
    web,
  )
  const logs = playLogs(platform)
  await platform.app.listen({ port, host: '127.0.0.1' })
  const hosts = await overTls(port)
  const browser = await chromium.launch({
    executablePath: CHROMIUM ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none', '--force-color-profile=srgb', ...hosts.args],
  })
  const contexts = new Map<string | undefined, Promise<BrowserContext>>()
  const contextOf = (who: string | undefined) => {
    const context = contexts.get(who) ?? makeContext(browser, platform, url, who)
    contexts.set(who, context)
    return context
  }
  return {
    platform,
    url,
    logs,
    forge,
    async open(who, look) {
      const context = await makeContext(browser, platform, url, who)
      return { ...(await see(context, look)), close: () => context.close() }
    },
    visit: async (who, look) => see(await contextOf(who), look),
    enter: (context, who) => enter(context, platform, url, who),
    async close() {
      await browser.close()
      hosts.close()
      await platform.close()
      forge.close()
    },
  }
}

/** The address that pictures show. */
const SHOWN_URL = 'https://platform.dev.example.com'

/**
 * Lets a browser open the shown address, and those of applications: what comes there is passed to a port of this
 * machine.
 */
async function overTls(port: number): Promise<{ readonly args: readonly string[]; close(): void }> {
  const { hostname } = new URL(SHOWN_URL)
  const { key, certificate } = makeCertificate(
    makeAuthority('pictures', Date.now()),
    { name: hostname, others: [], use: 'server', days: 1 },
    Date.now(),
  )
  const server = createServer({ key, cert: certificate, ALPNProtocols: ['http/1.1'] }, outside => {
    const inside = connect(port, '127.0.0.1')
    outside.on('error', () => inside.destroy()).on('close', () => inside.destroy())
    inside.on('error', () => outside.destroy())
    outside.pipe(inside).pipe(outside)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port: open } = server.address() as AddressInfo // it listens at a port
  const rule = `MAP ${hostname.replace('platform.', '*.')}:443 127.0.0.1:${open}`
  return { args: [`--host-resolver-rules=${rule}`], close: () => server.close() }
}

async function makeContext(
  browser: Browser,
  platform: TestPlatform,
  url: string,
  who: string | undefined,
): Promise<BrowserContext> {
  const { width, height, scheme } = USUAL
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    // The certificate of the addresses under dev.example.com is not trusted.
    ignoreHTTPSErrors: true,
  })
  // On a busy machine, a page takes longer than the 30 s that are usual.
  context.setDefaultTimeout(120_000)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url })
  if (who !== undefined) await enter(context, platform, url, who)
  return context
}

/** Repeats a navigation for as long as a change of the network ends it. */
async function repeated<T>(navigate: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await navigate()
    } catch (error) {
      const text = String(error)
      if (!text.includes(NETWORK_CHANGED) && !INTERRUPTED.test(text)) throw error
    }
}

/** Opens a page that has not loaded anything. */
async function see(context: BrowserContext, look: Look = {}): Promise<Seen> {
  const page = await context.newPage()
  // When Pods start and stop on this machine, its network changes, and Chromium fails the pending requests. The page
  // repeats its own requests; without its script the page does not work, and a user would reload it.
  let reloads = 0
  let isReloading = false
  const reload = async () => {
    if (isReloading) return
    isReloading = true
    reloads++
    await repeated(() => page.reload({ waitUntil: 'commit' })).catch(() => {})
    isReloading = false
  }
  const goto = page.goto.bind(page)
  page.goto = (...words) => repeated(() => goto(...words))
  const waitForURL = page.waitForURL.bind(page)
  page.waitForURL = async (...words) => {
    for (;;) {
      const before = reloads
      try {
        return await waitForURL(...words)
      } catch (error) {
        if (reloads === before) throw error
      }
    }
  }
  const complaints: string[] = []
  page.on('requestfailed', failed => {
    const isPart = ['script', 'stylesheet'].includes(failed.resourceType())
    if (isPart && failed.failure()?.errorText === NETWORK_CHANGED) void reload()
  })
  page.on('console', message => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    if (!message.text().includes(NETWORK_CHANGED)) complaints.push(message.text())
  })
  page.on('pageerror', error => complaints.push(String(error)))
  const change = async (other: Look) => {
    const { width, height, scheme } = { ...USUAL, ...other }
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme: scheme })
    // A frame has the new style and begins the transitions to it, which the next one ends; on a busy machine, frames
    // come late.
    await page.evaluate(async wanted => {
      const frame = () => new Promise(requestAnimationFrame)
      while (wanted && !matchMedia(`(prefers-color-scheme: ${wanted})`).matches) await frame()
      do {
        await frame()
        await frame()
        await Promise.allSettled(document.getAnimations().map(one => one.finished))
      } while (document.getAnimations().some(({ playState }) => playState === 'running'))
    }, scheme)
  }
  if (look.width !== undefined || look.scheme !== undefined) await change(look)
  return { page, complaints, change, close: () => page.close() }
}

/** Gives a browser the session of a person, as a login does. */
async function enter(context: BrowserContext, { parts }: TestPlatform, url: string, user: string): Promise<void> {
  const { text } = await parts.tokens.issue({ kind: 'session', label: 'Firefox on a laptop', user })
  await context.addCookies([
    {
      name: '__Host-devctl',
      value: text,
      url: url.replace('http:', 'https:'),
      httpOnly: true,
      secure: true,
      sameSite: 'Strict',
    },
  ])
}

/** The rules of axe that count: those that are named, or all but some. */
export type AxeRules = { readonly only: readonly string[] } | { readonly not: readonly string[] }

/** Returns the findings of axe on a page, a line each. */
export async function findings(page: Page, rules: AxeRules = { not: [] }): Promise<readonly string[]> {
  if ('only' in rules && rules.only.length === 0) return []
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axeSource)
  const chosen =
    'only' in rules
      ? { runOnly: rules.only }
      : { rules: Object.fromEntries(rules.not.map(rule => [rule, { enabled: false }])) }
  // Describes no part that passes, and fetches no style sheet again for rules that are not tried.
  const options = { ...chosen, resultTypes: ['violations'], preload: false }
  return page.evaluate(async options => {
    // axe puts itself there.
    const { axe } = globalThis as unknown as {
      readonly axe: { run(options: object): Promise<{ violations: AxeFinding[] }> }
    }
    interface AxeFinding {
      readonly id: string
      readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
    }
    const { violations } = await axe.run(options)
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(one => `${id}: ${one.html.slice(0, 160)} (${one.failureSummary})`),
    )
  }, options)
}

/** Returns how far a page can be scrolled sideways, in pixels. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
