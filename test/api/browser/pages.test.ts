import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PageName } from '../../../platform/api/pages.ts'
import { usageRef } from '../../../platform/records/usage.ts'
import { makeUlid } from '../../../platform/rules/ulid.ts'
import { root } from '../../support/cases.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { partOf } from '../../support/part-of-cases.ts'
import { few, longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { makeEnvironment, NASTY_EVENT, SECRET_VALUE, setReady } from './make-environment.ts'
import {
  type AxeRules,
  findings,
  type Look,
  NO_BROWSER,
  openBrowser,
  overflow,
  type Seen,
  type TestBrowser,
} from './open-browser.ts'
import { CANARY, lookAt, makeTeam, type Team, WAITING_COMMIT } from './people.ts'
import { named, PICTURES, shown } from './shown.ts'

// Tests the pages in a real browser, with a real API server. `PICTURES=1` writes docs/platform (`npm run pictures`);
// any other value is a folder for PNG files.

if (NO_BROWSER) console.warn(`the pages are not tried in a browser: ${NO_BROWSER}`)

const NARROW: NamedLook = { name: 'narrow', width: 360, height: 740 }

/** Looks that a page is given in turn after it was loaded with the first one: what it shows stays. */
const LOOKS: readonly NamedLook[] = [
  { name: 'light' },
  // Only the colors differ from the first look.
  { name: 'dark', scheme: 'dark', rules: { only: ['color-contrast'] } },
  { name: 'wide', width: 2560, height: 1200, rules: { only: [] } },
  // Everything except the colors is checked.
  { ...NARROW, rules: { not: ['color-contrast'] } },
]

/** Interval between the visited pages that are checked with axe, in a look other than the first, and by keyboard. */
const PARTS = 5

/** Returns the looks of a page: the first one, and another in turn where it is tried thoroughly; all for pictures. */
const looksOf = (index: number, isThorough: boolean): readonly NamedLook[] => {
  if (TAKES_ALL || PICTURES) return LOOKS
  const [first, ...others] = LOOKS
  return isThorough
    ? [first!, others[Math.floor(index / PARTS) % others.length]!]
    : [{ ...first!, rules: { only: [] } }]
}

/** The pages whose scripts look at the width are also loaded on a phone; all others leave that to their styles. */
const LOOKS_AT_WIDTH = ['environment']

interface NamedLook extends Look {
  readonly name: string
  /** Rules of axe; absent: all. */
  readonly rules?: AxeRules
}

interface Visit {
  readonly who?: 'ann' | 'bob' | 'cem'
  readonly path: (team: Team) => string
  /** Text that appears once the page shows all of its content. */
  readonly shows: (team: Team) => string
  /** Steps that a user takes before the page is checked. */
  readonly doing?: (page: Page, team: Team) => Promise<unknown>
  /** Complaint of the browser about an intended response. */
  readonly complains?: RegExp
}

const request = `port=43127&state=x&challenge=${'A'.repeat(43)}&label=ann%40laptop-7`
/** Name of a page in words that are joined by `-`: `yourVariables` is `your-variables`. */
type KebabCase<S extends string> = S extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${KebabCase<Rest>}`
  : ''

/** Every page of the table, and dialogs and states of pages. */
const VISITS: Readonly<Record<KebabCase<PageName>, Visit>> & Readonly<Record<string, Visit>> = {
  login: { path: () => '/login', shows: () => 'no login provider', complains: /status of 401/ },
  setup: {
    path: () => `/setup#devctl_setup_${'a'.repeat(40)}`,
    shows: () => 'first administrator',
    complains: /status of 401/,
  },
  cli: { who: 'ann', path: () => `/cli?${request}`, shows: () => 'ann@laptop-7' },
  device: { who: 'ann', path: () => '/device', shows: () => 'Shown in your terminal' },
  home: { who: 'bob', path: () => '/', shows: () => 'Problem in shop' },
  'new-namespace': {
    who: 'bob',
    path: () => '/?new',
    shows: () => 'devctl namespace create NAME',
  },
  search: {
    who: 'ann',
    path: () => '/',
    shows: () => 'Use dark theme',
    doing: page => page.keyboard.press('/'),
  },
  'search-results': {
    who: 'ann',
    path: () => '/',
    shows: () => 'Environment',
    doing: async page => {
      await page.keyboard.press('/')
      await page.getByRole('combobox').fill('shop')
    },
  },
  namespace: {
    who: 'ann',
    path: team => `/namespaces/${team.shop}`,
    shows: () => '5 of 6 ready',
    doing: page => page.getByText('of 8 cores').waitFor(),
  },
  environment: {
    who: 'ann',
    path: team => `/namespaces/${team.shop}/environments/shop`,
    shows: () => 'exited 6 times',
  },
  service: {
    who: 'cem',
    path: team => `/namespaces/${team.shop}/environments/shop/services/web`,
    shows: () => 'GET /health',
  },
  'service-events': {
    who: 'cem',
    path: team => `/namespaces/${team.shop}/environments/shop/services/web/events`,
    shows: () => NASTY_EVENT.replace('\u202e', '\\u{202e}'),
  },
  'service-settings': {
    who: 'cem',
    path: team => `/namespaces/${team.shop}/environments/shop/services/web/settings`,
    shows: () => 'GET /health on port 80',
  },
  'service-problems': {
    who: 'cem',
    path: team => `/namespaces/${team.shop}/environments/shop/services/api/problems`,
    shows: () => 'Problems 1',
  },
  keys: {
    who: 'cem',
    path: () => '/',
    shows: () => 'Show these shortcuts',
    doing: page => page.keyboard.press('?'),
  },
  runs: { who: 'ann', path: team => `/namespaces/${team.shop}/runs`, shows: () => 'Destroy blog' },
  run: { who: 'bob', path: team => `/runs/${team.runs.good}`, shows: () => 'seeded' },
  'run-failed': { who: 'ann', path: team => `/runs/${team.runs.broken}`, shows: () => 'exited 3 times with code 1' },
  'run-waits': { who: 'ann', path: team => `/runs/${team.runs.waiting}`, shows: () => 'No output yet' },
  'deploy-from-git': {
    who: 'bob',
    path: team => `/namespaces/${team.shop}/runs`,
    shows: () => shown("'it'\\''s-here;$(id)'", '--branch feature/checkout'),
    doing: async page => {
      await page.getByRole('button', { name: 'Deploy from Git' }).click()
      await page.getByLabel('Repository', { exact: true }).fill('https://git.example.com/team/shop')
      await page.getByLabel('Branch or tag', { exact: true }).fill(shown("it's-here;$(id)", 'feature/checkout'))
    },
  },
  previews: { who: 'bob', path: () => '/previews', shows: team => team.previews[1] },
  'new-preview': {
    who: 'ann',
    path: () => '/previews',
    shows: () => 'devctl preview deploy --repository',
    doing: async page => {
      await page.getByRole('button', { name: 'New preview' }).click()
      await page.getByLabel('Repository', { exact: true }).fill('https://git.example.com/team/shop')
    },
  },
  webhooks: { who: 'bob', path: () => '/previews/webhooks', shows: team => team.waits },
  approve: {
    who: 'bob',
    path: () => '/previews',
    shows: team => `devctl preview approve ${team.waits} --commit ${WAITING_COMMIT}`,
    doing: page => page.getByRole('button', { name: 'Approve 6dcb09b' }).click(),
  },
  'new-webhook': {
    who: 'ann',
    path: () => '/previews/webhooks',
    shows: () => 'devctl preview hook add https://git.example.com/team/shop',
    doing: async page => {
      await page.getByRole('button', { name: 'Add webhook' }).click()
      await page.getByLabel('Repository', { exact: true }).fill('https://git.example.com/team/shop')
    },
  },
  variables: { who: 'bob', path: team => `/namespaces/${team.shop}/variables`, shows: () => 'devctl-reader' },
  'set-variable': {
    who: 'bob',
    path: team => `/namespaces/${team.shop}/variables`,
    shows: () => 'devctl variables set API_KEY',
    doing: async page => {
      await page.getByRole('button', { name: 'Add variable' }).click()
      await page.getByLabel('Name', { exact: true }).fill('API_KEY')
    },
  },
  'your-variables': { who: 'bob', path: () => '/you/variables', shows: () => 'No credentials yet' },
  'everybodys-variables': { who: 'ann', path: () => '/admin/variables', shows: () => 'No variables yet' },
  members: { who: 'ann', path: team => `/namespaces/${team.shop}/members`, shows: () => 'Share' },
  settings: { who: 'ann', path: team => `/namespaces/${team.shop}/settings`, shows: () => 'Danger zone' },
  delete: {
    who: 'ann',
    path: team => `/namespaces/${team.shop}/settings`,
    shows: () => 'volumes, variables and history',
    doing: page => page.getByRole('button', { name: 'Delete' }).click(),
  },
  transfer: {
    who: 'ann',
    path: team => `/namespaces/${team.shop}/settings`,
    shows: () => 'stays a developer',
    doing: page => page.getByRole('button', { name: 'Transfer' }).click(),
  },
  you: { who: 'ann', path: () => '/you', shows: () => 'this session' },
  tokens: { who: 'ann', path: () => '/you/tokens', shows: () => 'nightly tests' },
  'delete-failed': { who: 'bob', path: team => `/namespaces/${team.stuck}`, shows: () => 'Delete anyway' },
  'delete-anyway': {
    who: 'bob',
    path: team => `/namespaces/${team.stuck}`,
    shows: team => `devctl namespace delete ${team.stuck} --force`,
    doing: page => page.getByRole('button', { name: 'Delete anyway' }).click(),
  },
  overview: { who: 'ann', path: () => '/admin/overview', shows: team => team.stuck },
  users: { who: 'ann', path: () => '/admin/users', shows: () => 'Suspend' },
  analytics: { who: 'ann', path: () => '/admin/analytics', shows: () => 'namespace list' },
  'platform-settings': { who: 'ann', path: () => '/admin/settings', shows: () => 'namespacesPerUser' },
  'not-found': { who: 'ann', path: () => '/nothing/here', shows: () => 'Page not found', complains: /status of 404/ },
}

describe.skipIf(NO_BROWSER)('pages', () => {
  let browser: TestBrowser
  let team: Team
  beforeAll(async () => {
    browser = await openBrowser()
    team = await makeTeam(browser)
  })
  afterAll(async () => {
    await browser?.platform.cluster.delete(usageRef)
    for (const one of (await browser?.platform.parts.hooks.list()) ?? []) await browser.platform.parts.hooks.remove(one)
    await browser?.close()
  })

  const open = async (visit: Visit, look: Look): Promise<Seen> => {
    return follow(await browser.open(visit.who && team[visit.who], look), visit)
  }
  /** Goes to the page of a visit, and waits until it shows everything. */
  const follow = async (seen: Seen, visit: Visit): Promise<Seen> => {
    await seen.page.goto(visit.path(team))
    if (visit.doing) {
      await seen.page.locator('h1').first().waitFor()
      await visit.doing(seen.page, team)
    }
    await seen.page.getByText(visit.shows(team)).filter({ visible: true }).first().waitFor()
    return seen
  }

  // Several at once: most of their time is waiting. They change nothing.
  describe('looks good', { concurrent: true }, () => {
    async function look(
      page: string,
      looks: readonly NamedLook[],
      more: (seen: Seen) => Promise<void> = async () => {},
    ) {
      const visit = VISITS[page]!
      const seen = await browser.visit(visit.who && team[visit.who], looks[0]!)
      try {
        await follow(seen, visit)
        await tryLooks(seen, looks, page)
        expect(seen.complaints.filter(one => !visit.complains?.test(one))).toEqual([])
        await more(seen)
      } finally {
        await seen.close()
      }
    }

    // Visits every second page, selected by the commit, because the pages share their parts; all pages for pictures and
    // in `npm run test:long`. Dialogs are opened only on pages that are checked thoroughly.
    const visited = PICTURES ? Object.keys(VISITS) : partOf(Object.keys(VISITS), 2).cases
    const thorough = partOf(visited, PARTS).cases
    const pages = Object.entries(VISITS)
      .map(([page, { doing }], index) => ({ page, doing, index, isThorough: thorough.includes(page) }))
      .filter(({ page, doing, isThorough }) => visited.includes(page) && (isThorough || PICTURES || !doing))
    test.each(pages)('the page $page passes axe and fits the window', async ({ page, index, isThorough }) => {
      const looks = looksOf(index, isThorough)
      const isWidthSeen = LOOKS_AT_WIDTH.includes(page)
      await look(page, isWidthSeen ? looks.filter(({ name }) => name !== 'narrow') : looks, async seen => {
        if (!PICTURES && isThorough) await reachAllByKeyboard(seen, page)
      })
    })
    const onPhone = LOOKS_AT_WIDTH.filter(page => visited.includes(page))
    test.each(onPhone)('the page %s fits a phone when it is loaded there', page => look(page, [NARROW]))

    test('all other pages leave the width to their styles', () => {
      const folder = join(root, 'platform/web')
      const looking = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
        path =>
          path.endsWith('.tsx') && /innerWidth|matchMedia|clientWidth/.test(readFileSync(join(folder, path), 'utf8')),
      )
      expect(looking).toEqual(LOOKS_AT_WIDTH.map(page => `pages/${page}/${page}.tsx`))
    })
  })

  describe('an application that sleeps', { concurrent: false }, () => {
    const ns = named(shown('asleep', 'docs'))
    const url = `https://web-${ns}.dev.example.com/`
    beforeAll(async () => {
      const { platform } = browser
      const { text: token } = await platform.parts.tokens.issue({ kind: 'api', label: 'x', user: team.ann })
      await platform.call('POST /namespaces', { token, body: { name: ns } })
      await makeEnvironment(platform, ns)
      const slept = await platform.call('POST /namespaces/:ns/sleep', { token, params: { ns } })
      expect(slept.status).toBe(200)
    })

    test('an application that sleeps is woken by an anonymous visitor', async () => {
      const seen = await browser.open(undefined, LOOKS[0])
      try {
        await seen.page.goto(url)
        await seen.page.getByText(/^0 of \d+ services? (?:is|are) ready$/).waitFor()
        await tryLooks(seen, PICTURES ? LOOKS : few(LOOKS, 2), 'waking')
        // The page itself has the status 503: for programs, the application is not available yet.
        expect(seen.complaints.filter(one => !/status of 503/.test(one))).toEqual([])
      } finally {
        await seen.close()
      }
    })

    longTest('the waking page shows services as they get ready, and then the application', async () => {
      const { page, close } = await browser.open(undefined)
      await page.goto(url)
      await setReady(browser.platform, ns, 'web', true)
      await page.getByText(/^1 of \d+ services are ready$/).waitFor()
      // The ingress controller routes to the application again.
      await page.route(url, route =>
        route.fulfill({ contentType: 'text/html', body: '<title>Docs</title><h1>The docs</h1>' }),
      )
      await page.getByRole('heading', { name: 'The docs' }).waitFor()
      await close()
    })
  })

  describe('pages by keyboard only', () => {
    const at = (page: Page) =>
      page.evaluate(() => {
        const found = document.activeElement
        return `${found?.tagName.toLowerCase()} ${(found?.getAttribute('aria-label') ?? found?.textContent ?? '').trim()}`
      })
    /** Presses Tab until the wanted element has the focus; throws after 60 steps. */
    const tabTo = async (page: Page, wanted: string) => {
      for (let step = 0; step < 60; step++) {
        await page.keyboard.press('Tab')
        if ((await at(page)).startsWith(wanted)) return
      }
      throw new Error(`\`${wanted}\` is not reached; the focus is at ${await at(page)}`)
    }

    test('a user creates, shares and deletes a namespace by keyboard only', async () => {
      const { page, complaints, close } = await browser.open(team.bob)
      const name = `keys-${team.shop.split('-')[1]}`
      await page.goto('/')
      await page.getByText(team.shop).first().waitFor()
      await page.keyboard.press('Control+k')
      await page.keyboard.type('new namesp')
      await page.keyboard.press('Enter')
      await page.getByLabel('Name', { exact: true }).waitFor()
      await page.keyboard.type(name)
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/namespaces/${name}`)
      await page.getByText('Last active').waitFor()
      await tabTo(page, 'a Members')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/members')
      await page.getByRole('button', { name: 'Share' }).waitFor()
      await tabTo(page, 'button Share')
      await page.keyboard.press('Enter')
      await page.locator('dialog').getByLabel('Person').waitFor()
      await page.locator('dialog option', { hasText: `cem-${team.shop.split('-')[1]}` }).waitFor({ state: 'attached' })
      // The first field has the focus.
      await page.keyboard.type(`cem-${team.shop.split('-')[1]}`)
      await tabTo(page, 'button Share')
      await page.keyboard.press('Enter')
      await page
        .getByRole('status')
        .getByText(/^Shared /)
        .waitFor()
      const shared = await browser.platform.parts.namespaces.require(
        (await browser.platform.parts.users.find(team.bob))!,
        name,
        'see',
        'this',
      )
      expect(shared.members.map(one => [one.user, one.role]).toSorted()).toEqual(
        [
          [team.bob, 'owner'],
          [team.cem, 'developer'],
        ].toSorted(),
      )
      await page.goto(`/namespaces/${name}/settings`)
      await page.getByText('Danger zone').waitFor()
      await tabTo(page, 'button Delete')
      await page.keyboard.press('Enter')
      await page.getByLabel(`Type ${name} to confirm`).waitFor()
      await page.keyboard.press('Enter')
      expect(new URL(page.url()).pathname).toBe(`/namespaces/${name}/settings`)
      await page.keyboard.type(name)
      // The message is visible for a few seconds only.
      await Promise.all([
        page.getByText(`Deleting ${name}`).waitFor(),
        page.waitForURL('**/'),
        page.keyboard.press('Enter'),
      ])
      expect(complaints).toEqual([])
      await close()
    })

    longTest('Escape closes a dialog and returns the focus to where it was', async () => {
      const { page, close } = await open({ ...VISITS['home']!, path: () => '/' }, {})
      await tabTo(page, 'button New namespace')
      await page.keyboard.press('Enter')
      await page.locator('dialog[open]').waitFor()
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
      expect(await at(page)).toBe('button New namespace')
      await close()
    })
  })

  describe('a login', () => {
    test('a login by invitation hides its token from address and scripts, and works once', async () => {
      const { parts } = browser.platform
      const { text } = await parts.tokens.issue({ kind: 'invite', label: `dora-${team.shop.split('-')[1]}` })
      const { page, complaints, close } = await browser.open(undefined)
      await page.goto(`/setup#${text}`)
      await page.getByRole('button', { name: 'Log in' }).waitFor()
      expect(page.url()).toBe(`${browser.url}/setup`)
      await page.getByRole('button', { name: 'Log in' }).click()
      await page.getByText('Deploy from your laptop').waitFor()
      expect(await page.evaluate(() => document.cookie)).toBe('')
      expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).toBe('{}')
      await page.goto(`/setup#${text}`)
      await page.getByRole('button', { name: 'Log in' }).click()
      await page.getByText('This link was already used').waitFor()
      expect(complaints.filter(one => !/status of 40[14]/.test(one))).toEqual([])
      await close()
    })

    test('a login that a page requires leads back to the page', async () => {
      const { page, close } = await browser.open(undefined)
      await page.goto('/you/tokens')
      await page.waitForURL(`**/login?to=${encodeURIComponent('/you/tokens')}`)
      await close()
    })

    longTest('a session that has ended is reported on the page, and a login continues it', async () => {
      const { page, close } = await open(VISITS['home']!, {})
      await page.context().clearCookies()
      await page.evaluate(() => dispatchEvent(new Event('online')))
      await page.getByText('Your session has ended').waitFor()
      // The page still shows its content.
      expect(await page.getByText(team.shop).count()).toBeGreaterThan(0)
      // The login opens in its own tab; the page continues when the user comes back from it.
      expect(await page.getByRole('link', { name: 'Log in again' }).getAttribute('target')).toBe('_blank')
      await page.getByRole('button', { name: 'New namespace' }).click()
      await page.getByLabel('Name', { exact: true }).fill('what-was-typed')
      await browser.enter(page.context(), team.bob)
      await page.evaluate(() => dispatchEvent(new Event('focus')))
      await page.getByText('Your session has ended').waitFor({ state: 'detached' })
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('what-was-typed')
      await close()
    })
  })

  test('Home asks for the environments of all namespaces by one request, also for the sidebar', async () => {
    const { page, close } = await browser.open(team.bob)
    const asked: string[] = []
    page.on('request', request => {
      const { pathname } = new URL(request.url())
      if (/^\/api\/v1\/(namespaces|environments)/.test(pathname)) asked.push(pathname.slice('/api/v1'.length))
    })
    await page.goto('/')
    await page.getByText('Problem in shop').first().waitFor()
    // The sidebar would send its request a second after the page.
    await page.waitForTimeout(2500)
    expect(asked.sort()).toEqual(['/environments', '/namespaces'])
    await close()
  })

  longTest('a platform that cannot be reached is reported, and the page keeps its content', async () => {
    const { page, close } = await open(VISITS['home']!, {})
    await page.context().setOffline(true)
    await page.evaluate(() => dispatchEvent(new Event('online')))
    await page.getByText('The platform cannot be reached').waitFor()
    expect(await page.getByText(team.shop).count()).toBeGreaterThan(0)
    await page.context().setOffline(false)
    await page.getByText('The platform cannot be reached').waitFor({ state: 'detached', timeout: 60_000 })
    await close()
  })

  describe('the page of an environment', () => {
    const path = () => `/namespaces/${team.shop}/environments/shop`

    test('the page of an environment follows changes by a stream, without further requests', async () => {
      const { page, close } = await browser.open(team.bob)
      const first = page.waitForResponse(answer => answer.url().endsWith('/environments/shop'))
      await page.goto(path())
      const cache = page.getByRole('link', { name: /^cache/ })
      await cache.getByText('Ready 1/1').waitFor()
      await first
      await page.getByRole('row', { name: /^backup 30 3 \* \* \* Europe\/Berlin .* Failed/ }).waitFor()
      // From now on, requests for the environment fail.
      await page.route('**/api/v1/namespaces/*/environments/**', route => route.abort())
      await setReady(browser.platform, team.shop, 'cache', false)
      await cache.getByText('Starting 0/1').waitFor()
      await setReady(browser.platform, team.shop, 'cache', true)
      await cache.getByText('Ready 1/1').waitFor()
      await close()
    })

    longTest('the page of an environment polls for changes when there is no stream', async () => {
      const { page, close } = await browser.open(team.bob)
      await page.route('**/live', route => route.abort())
      await page.goto(path())
      const cache = page.getByRole('link', { name: /^cache/ })
      await cache.getByText('Ready 1/1').waitFor()
      await setReady(browser.platform, team.shop, 'cache', false)
      await cache.getByText('Starting 0/1').waitFor()
      await setReady(browser.platform, team.shop, 'cache', true)
      await cache.getByText('Ready 1/1').waitFor()
      await close()
    })

    test('the page of a service shows its settings, without values of secrets', async () => {
      const { page, complaints, close } = await open(VISITS['service-settings']!, {})
      const text = await page.locator('main').innerText()
      for (const one of ['GREETING', 'from secret/shop-db-password', '/cache', 'request 64Mi, limit 128Mi'])
        expect(text).toContain(one)
      expect(text).toContain('<img src=x onerror=alert(1)>\\u{202e}gnp.exe')
      expect(await page.content()).not.toContain(SECRET_VALUE)
      expect(await page.locator('main img').count()).toBe(0)
      // A viewer cannot change anything.
      expect(await page.getByRole('button', { name: /Redeploy|Destroy/ }).count()).toBe(0)
      expect(complaints).toEqual([])
      await close()
    })

    longTest(
      'a broken environment is visible in the sidebar, on top of Home, and in the title of the tab',
      async () => {
        const { page, close } = await browser.open(team.bob)
        await page.goto('/')
        const short = page.locator('.in-short')
        await short.getByText('namespaces have problems').waitFor()
        await page
          .locator('#side')
          .getByRole('link', { name: new RegExp(`^${team.shop}.*Problem in shop`) })
          .waitFor()
        await short.getByRole('link', { name: team.shop }).press('Enter')
        await page.waitForURL(`**/namespaces/${team.shop}`)
        await page.locator('.page-title').getByText('Problem in shop').waitFor()
        await eventually('the tab says so', async () => ((await page.title()).startsWith('⚠ ') ? true : undefined))
        await close()
      },
    )

    longTest('the page of a service follows, pauses and searches its logs', async () => {
      const { page, complaints, close } = await open(VISITS['service']!, {})
      const log = page.getByRole('region', { name: 'Logs of web' })
      browser.logs.say('web', 'one more \u001b[31mred\u001b[0m line')
      await log.getByText('one more').waitFor()
      expect(await log.locator('.ansi-1', { hasText: 'red' }).count()).toBe(1)
      await page.getByRole('button', { name: 'Pause' }).click()
      browser.logs.say('web', 'while nobody looked')
      await page.getByRole('button', { name: 'Resume, 1 new' }).waitFor()
      expect(await log.getByText('while nobody looked').count()).toBe(0)
      await page.getByRole('button', { name: 'Resume, 1 new' }).click()
      await log.getByText('while nobody looked').waitFor()
      await page.getByLabel('Search the log').fill('nobody')
      await log.getByText('one more').waitFor({ state: 'detached' })
      expect(await log.locator('.log-line').count()).toBe(1)
      expect(await page.locator('main :is(img, script)').count()).toBe(0)
      expect(complaints).toEqual([])
      await close()
    })
  })

  if (TAKES_ALL)
    describe('previews', () => {
      test('a user finds, deploys and destroys previews', async () => {
        const { page, complaints, close } = await browser.open(team.bob)
        const [own, shared] = team.previews
        await page.goto('/previews')
        const main = page.locator('main')
        await main.getByText(shared).first().waitFor()
        // Only administrators can destroy a global preview.
        expect(await page.getByRole('button', { name: `Destroy ${shared}` }).count()).toBe(0)
        expect(await main.innerText()).toContain('<img/src=x/onerror=alert(1)>\\u{202e}gnp.exe')
        const ofPreview = main.getByRole('listitem').filter({ hasText: own })
        expect(await ofPreview.getByRole('link', { name: '#7' }).getAttribute('href')).toBe(
          'https://git.example.com/team/shop/pulls/7',
        )
        await page.getByLabel('Filter').fill('checkout')
        await main.getByText(shared).waitFor({ state: 'detached' })
        await page.getByRole('button', { name: `Destroy ${own}` }).click()
        await page.locator('dialog').getByRole('button', { name: 'Destroy', exact: true }).click()
        await page.getByText(`Destroying ${own}`).waitFor()
        await page.getByRole('button', { name: 'New preview' }).click()
        const name = `shop-next-${team.shop.split('-')[1]}`
        await page.getByLabel('Repository', { exact: true }).fill('https://git.example.com/team/shop')
        await page.getByLabel('Branch or tag', { exact: true }).fill('feature/next')
        await page.getByLabel('Name', { exact: true }).fill(name)
        await page.locator('dialog').getByRole('button', { name: 'Deploy', exact: true }).click()
        await page.waitForURL('**/runs/*')
        await page.getByText('feature/next').first().waitFor()
        const made = await browser.platform.call('GET /previews/:name', {
          token: (await browser.platform.parts.tokens.issue({ kind: 'api', label: 'x', user: team.bob })).text,
          params: { name },
        })
        expect(made.body).toMatchObject({ scope: 'personal', branch: 'feature/next', owner: { id: team.bob } })
        expect(complaints).toEqual([])
        await close()
      })
    })

  describe('webhooks', () => {
    /** Returns the pull request that waits for approval, as the platform has it. */
    const request = async () => {
      const hook = (await browser.platform.parts.hooks.list()).find(({ prefix }) => team.waits.startsWith(prefix))
      return { hook: hook!, pull: hook!.pulls[0]! }
    }

    test('a user approves a commit of a fork by keyboard, and only the commit that was shown', async () => {
      const { page, complaints, close } = await browser.open(team.bob)
      await page.goto('/previews')
      await page.getByText(team.waits).first().waitFor()
      const main = page.locator('main')
      const text = await main.innerText()
      for (const one of [
        'Waiting for approval',
        'git.example.com/eve/shop',
        '<img src=x onerror=alert(1)>\\u{202e}gnp.exe',
      ])
        expect(text).toContain(one)
      expect(text).not.toMatch(/[\u202a-\u202e]/)
      expect(await page.locator('main :is(img, script, [onerror])').count()).toBe(0)
      expect(await main.getByRole('link', { name: '#7' }).first().getAttribute('href')).toBe(
        'https://git.example.com/team/shop/pulls/7',
      )
      // A new commit is pushed while the user reads the page.
      const { hook } = await request()
      const pushed = 'f'.repeat(40)
      browser.forge.pulls.get(7)!.sha = pushed
      await lookAt(browser.platform, hook.id, 7)
      await page.getByRole('button', { name: 'Approve 6dcb09b' }).press('Enter')
      const dialog = page.locator('dialog')
      await dialog.getByText(WAITING_COMMIT, { exact: true }).waitFor()
      await dialog.getByRole('button', { name: 'Approve 6dcb09b' }).press('Enter')
      await dialog.getByText('there is a newer commit').waitFor()
      expect((await request()).pull).toMatchObject({ commit: pushed, isWaiting: true })
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Approve fffffff' }).press('Enter')
      await dialog.getByRole('button', { name: 'Approve fffffff' }).press('Enter')
      await page.getByText('Approved fffffff').waitFor()
      await page.getByRole('button', { name: 'Approve fffffff' }).waitFor({ state: 'detached' })
      expect((await request()).pull.approved).toMatchObject({ commit: pushed, by: team.bob })
      expect(complaints.filter(one => !/status of 409/.test(one))).toEqual([])
      await close()
    })

    longTest('a user adds and removes a webhook, and its secret is shown once', async () => {
      const { page, complaints, close } = await browser.open(team.cem)
      await page.goto('/previews/webhooks')
      await page.getByText('No webhooks yet').waitFor()
      await page.getByRole('button', { name: 'Add webhook' }).click()
      await page.getByLabel('Repository', { exact: true }).fill('https://git.example.com/team/shop')
      await page.getByLabel('Access token').fill(`${CANARY}-forge`)
      await page.getByLabel('Name prefix').fill('No')
      await page.getByText('with a dash at the end').waitFor()
      expect(await page.getByRole('button', { name: 'Add', exact: true }).isDisabled()).toBe(true)
      await page.getByLabel('Name prefix').fill(`cem-${team.shop.split('-')[1]}-`)
      await page.getByLabel('Pull requests from forks').selectOption('sandbox')
      await page.getByText('--forks sandbox').waitFor()
      await page.getByLabel('Webhook in the repository').selectOption('no')
      await page.getByRole('button', { name: 'Add', exact: true }).click()
      const secret = await page.locator('dialog .copy-box[class~="value"] code').nth(1).textContent()
      expect(secret).toMatch(/^[\w-]{43}$/)
      await page.getByText('pull request synchronized').waitFor()
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByText('are deployed without variables').waitFor()
      expect(await page.content()).not.toContain(secret)
      expect(await page.content()).not.toContain(CANARY)
      await page.getByRole('button', { name: /^Remove/ }).click()
      await page.locator('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
      await page.getByText('No webhooks yet').waitFor()
      expect(complaints).toEqual([])
      await close()
    })

    longTest('webhooks are created on the forge, and deleted there', async () => {
      const { page, close } = await browser.open(team.cem)
      await page.goto('/previews/webhooks')
      await page.getByRole('button', { name: 'Add webhook' }).click()
      await page.getByLabel('Repository', { exact: true }).fill('https://git.example.com/team/shop')
      await page.getByLabel('Access token').fill(`${CANARY}-forge`)
      await page.getByLabel('Name prefix').fill(`made-${team.shop.split('-')[1]}-`)
      await page.getByRole('button', { name: 'Add', exact: true }).click()
      await page.getByText('has a webhook').waitFor()
      expect(browser.forge.webhooks.size).toBe(1)
      await page.getByRole('button', { name: /^Remove/ }).click()
      await page.getByText('also deleted on the forge').waitFor()
      await page.locator('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
      await page.getByText('No webhooks yet').waitFor()
      expect(browser.forge.webhooks.size).toBe(0)
      await close()
    })
  })

  describe('variables and credentials', () => {
    longTest('a developer sets and deletes variables, and no value is in a page', async () => {
      const { page, complaints, close } = await browser.open(team.bob)
      await page.goto(`/namespaces/${team.shop}/variables`)
      await page.getByText('PAYMENT_URL').waitFor()
      await page.getByRole('button', { name: 'Add variable' }).click()
      await page.getByLabel('Name', { exact: true }).fill('NODE_OPTIONS')
      await page.getByText('This name is not allowed').waitFor()
      expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true)
      await page.getByLabel('Name', { exact: true }).fill('API_KEY')
      await page.getByLabel('Value').fill(`${CANARY}-2`)
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByRole('button', { name: 'Remove API_KEY' }).click()
      expect(await page.content()).not.toContain(CANARY)
      await page.getByRole('button', { name: 'Remove', exact: true }).click()
      await page.getByText('Removed API_KEY').waitFor()
      await page.getByRole('button', { name: 'Remove API_KEY' }).waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Add credential' }).click()
      await page.getByLabel('Host', { exact: true }).fill('forge.example.com:8443')
      await page.getByLabel('Password or token').fill(`${CANARY}-3`)
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('user git, set just now').waitFor()
      expect(await page.content()).not.toContain(CANARY)
      expect(complaints).toEqual([])
      await close()
    })

    test('a viewer does not see the variables', async () => {
      const { page, close } = await browser.open(team.cem)
      await page.goto(`/namespaces/${team.shop}/variables`)
      await page.getByText('Only for owners and developers').waitFor()
      expect(await page.getByText('PAYMENT_URL').count()).toBe(0)
      await close()
    })
  })

  describe('the page of a run', () => {
    test('the page of a run shows branches, commits and logs as plain text, whatever they contain', async () => {
      const { page, complaints, close } = await open(VISITS['run-failed']!, {})
      await page.getByText('gnp.exe').first().waitFor()
      const text = await page.locator('main').innerText()
      // Bidirectional controls do not change the order of the text.
      expect(text).toContain('<img/src=x/onerror=alert(1)>\\u{202e}gnp.exe')
      expect(text).toContain('</script><img src=x onerror=alert(1)>\\u{202e}gnp.exe link')
      expect(text).not.toMatch(/[\u202a-\u202e]/)
      expect(await page.locator('main :is(img, script, [onerror], [style])').count()).toBe(0)
      expect(await page.locator('a[href^="javascript" i]').count()).toBe(0)
      expect(await overflow(page)).toBeLessThanOrEqual(0)
      expect(complaints).toEqual([])
      await close()
    })

    longTest('the page of a run folds its log by step, searches it, and has an address for each line', async () => {
      const { page, close } = await open(VISITS['run']!, {})
      const log = page.getByRole('region', { name: 'Log' })
      await log.getByText('Deployment 1/1 ready').first().waitFor()
      expect(await log.getByText('added 214 packages').count()).toBe(0)
      await log.getByText('Build', { exact: true }).click()
      await log.getByText('added 214 packages').waitFor()
      await page.getByLabel('Search the log').fill('SEEDED')
      await log.getByText('added 214 packages').waitFor({ state: 'detached' })
      await log.locator('mark').first().waitFor()
      expect(await log.locator('.log-line').count()).toBe(1)
      expect(await log.locator('.ansi-bold.ansi-3').textContent()).toBe('seeded')
      await log.getByRole('link', { name: 'Line 12' }).press('Enter')
      await page.waitForURL('**/runs/*#L12')
      await page.getByLabel('Search the log').fill('')
      await page.reload()
      await log.locator('.log-line.is-target', { hasText: 'seeded' }).waitFor()
      await page.goto(`/runs/${team.runs.good}#L5`)
      await log.locator('.log-line.is-target', { hasText: 'added 214 packages' }).waitFor()
      // The arrow keys move the focus from line to line.
      await log.getByRole('link', { name: 'Line 5' }).press('ArrowDown')
      await log.getByRole('link', { name: 'Line 6' }).press('Enter')
      await page.waitForURL('**/runs/*#L6')
      await close()
    })

    test('the page of a run cancels a run that waits, and starts another one like it', async () => {
      const { page, complaints, close } = await open(VISITS['run-waits']!, {})
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByText('Cancelled').first().waitFor()
      await page.goto(`/runs/${team.runs.good}`)
      await page.getByRole('button', { name: 'Redeploy' }).click()
      expect(await page.getByLabel('Branch or tag', { exact: true }).inputValue()).toBe('main')
      await page.locator('dialog').getByRole('button', { name: 'Deploy', exact: true }).click()
      await page.waitForURL(url => /^\/runs\/\w+$/.test(url.pathname) && !url.pathname.endsWith(team.runs.good))
      await page.getByText('Queued', { exact: true }).waitFor()
      const id = new URL(page.url()).pathname.split('/')[2]!
      expect(await browser.platform.parts.runs.find(id)).toMatchObject({
        ...{ environment: 'shop', namespace: team.shop, user: team.ann, branch: 'main' },
        repository: 'https://git.example.com/team/shop',
      })
      expect(complaints).toEqual([])
      await close()
    })

    longTest('the page of a run lets viewers read it, without buttons that change anything', async () => {
      const { page, close } = await browser.open(team.cem)
      await page.goto(`/runs/${team.runs.waiting}`)
      await page.getByText('Destroy blog').first().waitFor()
      await page
        .getByText('known once it is cloned')
        .or(page.getByText('unknown', { exact: true }))
        .waitFor()
      expect(await page.getByRole('button', { name: /Cancel|Redeploy/ }).count()).toBe(0)
      await close()
    })
  })

  describe('administration', () => {
    test('the pages of administration are only for administrators', async () => {
      const { page, close } = await browser.open(team.bob)
      await page.goto('/')
      await page.getByText(team.shop).first().waitFor()
      expect(await page.getByRole('link', { name: 'Analytics' }).count()).toBe(0)
      for (const path of ['overview', 'analytics', 'settings']) {
        await page.goto(`/admin/${path}`)
        await page.getByRole('alert').waitFor()
        expect(await page.locator('main :is(table, dl)').count()).toBe(0)
      }
      await close()
    })

    longTest('the overview links to namespaces with problems, and shows their texts as plain text', async () => {
      const { page, complaints, close } = await open(VISITS['overview']!, {})
      const main = page.locator('main')
      await main.getByText('deployment/platform').first().waitFor()
      await main.getByText('could not be deleted').first().waitFor()
      const text = await main.innerText()
      expect(text).toContain('<img src=x onerror=alert(1)>\\u{202e}gnp.exe')
      expect(text).toContain('builder-0.builders.example.com')
      expect(await main.locator('img').count()).toBe(0)
      await main.getByRole('link', { name: team.stuck }).press('Enter')
      await page.waitForURL(`**/namespaces/${team.stuck}`)
      // An administrator may also try again.
      await page.getByRole('button', { name: 'Try again' }).waitFor()
      expect(complaints).toEqual([])
      await close()
    })

    longTest('the owner deletes a namespace whose deletion has failed', async () => {
      const name = `gone-${team.shop.split('-')[1]}`
      const { parts } = browser.platform
      const bob = (await parts.users.find(team.bob))!
      await parts.namespaces.create(bob, name, 'namespace')
      await parts.namespaces.noteDeletion({ name }, 'DeleteFailed', {
        id: makeUlid(0, Buffer.alloc(10)),
        problem: 'why',
      })
      const { page, complaints, close } = await browser.open(team.bob)
      await page.goto(`/namespaces/${name}`)
      await page.getByText('Why', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Delete anyway' }).click()
      await page.locator('dialog').getByRole('button', { name: 'Delete anyway' }).click()
      await page.waitForURL('**/')
      await eventually(`${name} is deleted`, async () =>
        (await parts.namespaces.find(name))?.namespace.status === 'DeleteFailed' ? undefined : true,
      )
      expect(complaints).toEqual([])
      await close()
    })
  })

  test('a token is shown once', async () => {
    const { page, close } = await browser.open(team.cem)
    await page.goto('/you/tokens')
    await page.getByRole('button', { name: 'New token' }).click()
    await page.getByLabel('What is it for?').fill('<img src=x onerror=alert(1)>')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('button', { name: 'Copy token' }).waitFor()
    const text = await page.locator('dialog code').first().textContent()
    expect(text).toMatch(/^devctl_api_/)
    await page.getByRole('button', { name: 'Copy token' }).click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText('<img src=x onerror=alert(1)>').waitFor()
    expect(await page.content()).not.toContain(text)
    // The label stays text, and no image is loaded for it.
    expect(await page.locator('main img').count()).toBe(0)
    await close()
  })

  test('the search finds services, runs and people by few requests, and reports failed reads', async () => {
    const { page, close } = await browser.open(team.bob)
    const asked: string[] = []
    page.on('request', request => {
      const { pathname } = new URL(request.url())
      if (pathname.startsWith('/api/')) asked.push(pathname.replace('/api/v1', ''))
    })
    await page.goto('/previews')
    await page.getByText(team.previews[1]).first().waitFor()
    expect(asked).not.toContain('/search')
    asked.length = 0
    await page.keyboard.press('/')
    const input = page.getByRole('combobox')
    const option = (name: RegExp) => page.getByRole('option', { name })
    const find = async (text: string, name: RegExp, address: RegExp) => {
      if (!(await input.isVisible())) await page.keyboard.press('/')
      await input.fill(text)
      await option(name).first().click()
      await page.waitForURL(address)
    }
    await input.fill('web')
    await option(/^web .*Service$/)
      .first()
      .waitFor()
    expect(asked.filter(path => ['/search', '/runs'].includes(path)).sort()).toEqual(['/runs', '/search'])
    expect(asked.filter(path => path.startsWith('/namespaces/'))).toEqual([])
    await find('web', /^web .*Service$/, /environments\/shop\/services\/web$/)
    await find(`${team.shop} shop`, /^shop .*Environment$/, /environments\/shop$/)
    await find('4f1c9aa', /^(Deploy|Destroy) .*Run$/, /\/runs\/\w+$/)
    await find('cem', /^cem.*Person$/, /\/members$/)
    await page.route('**/api/v1/search', route => route.fulfill({ status: 500, body: '{}' }))
    await page.route('**/api/v1/runs*', route => route.fulfill({ status: 500, body: '{}' }))
    await page.reload()
    await page.getByRole('heading').first().waitFor()
    await page.keyboard.press('/')
    await page.getByText('Runs could not be read:').waitFor()
    await page.getByText('Environments, services and people could not be read:').waitFor()
    await input.fill(team.shop)
    await option(/Namespace$/)
      .first()
      .waitFor()
    await close()
  })

  test('the layout of a page does not shift while it loads', async () => {
    const { page, close } = await browser.open(team.ann)
    // Responses of the API take a while.
    await page.route('**/api/**', async route => {
      await new Promise(resolve => setTimeout(resolve, 300))
      await route.continue()
    })
    await page.addInitScript(() => {
      Object.assign(globalThis, { shifts: [] })
      new PerformanceObserver(list => {
        for (const entry of list.getEntries())
          (globalThis as unknown as { shifts: number[] }).shifts.push((entry as unknown as { value: number }).value)
      }).observe({ type: 'layout-shift', buffered: true })
    })
    await page.goto('/')
    await page.getByText(team.shop).first().waitFor()
    const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: number[] }).shifts)
    // A layout shift below 0.1 counts as good.
    expect(shifts.reduce((sum, one) => sum + one, 0)).toBeLessThan(0.05)
    await close()
  })
})

/** Checks a page in each of the looks by the rules of axe and for overflow, or takes a picture of it. */
async function tryLooks({ page, change }: Seen, looks: readonly NamedLook[], called: string): Promise<void> {
  for (const look of looks) {
    const { name, rules } = look
    if (PICTURES === '1' && name === 'wide') continue
    await change(look)
    if (PICTURES) {
      await picture(page, name === 'light' ? called : `${called}-${name}`, look === looks[0])
      continue
    }
    expect(await findings(page, rules), name).toEqual([])
    expect(await overflow(page), name).toBeLessThanOrEqual(0)
  }
}

/** Writes a picture of the page: WebP for the docs, or PNG. */
async function picture(page: Page, name: string, isFirst: boolean): Promise<void> {
  await page.evaluate(() => document.fonts.ready)
  // The data of the sidebar and of the states arrives after the page.
  await page.waitForTimeout(isFirst ? 2500 : 300)
  if (PICTURES !== '1') {
    mkdirSync(PICTURES ?? '', { recursive: true })
    await page.screenshot({ path: join(PICTURES ?? '', `${name}.png`) })
    return
  }
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
  const folder = join(root, 'docs/platform')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.webp`), Buffer.from(data, 'base64'))
}

/** Checks that Tab reaches every control in order, and that each one shows that it has the focus. */
async function reachAllByKeyboard({ page, change }: Seen, name: string): Promise<void> {
  await change({})
  const inside = (await page.locator('dialog[open]').count()) > 0 ? 'dialog[open] ' : ''
  const all = page.locator(
    `${inside}:is(a[href]:not([tabindex="-1"]), button, input, select, summary, pre[tabindex="0"]):visible:not(:disabled)`,
  )
  const wanted = await all.evaluateAll(
    list => list.filter(one => !(one instanceof HTMLInputElement && one.type === 'radio' && !one.checked)).length,
  )
  const reached = new Set<string>()
  for (let step = 0; step < wanted + 12; step++) {
    await page.keyboard.press('Tab')
    const found = await page.evaluate(() => {
      const one = document.activeElement
      if (!one || one === document.body || one.tagName === 'DIALOG' || one.tagName === 'H1') return undefined
      const place = [...document.querySelectorAll('*')].indexOf(one)
      const box = one.matches('input[type=radio]') ? (one.closest('label') ?? one) : one
      // A link that covers its whole row shows the focus around the row.
      const isOutlined = [undefined, '::after'].some(part => {
        const { outlineStyle, outlineWidth } = getComputedStyle(box, part)
        return outlineStyle !== 'none' && outlineWidth !== '0px'
      })
      return {
        place,
        isSeen: isOutlined || one.matches('.palette input'),
        what: one.outerHTML.slice(0, 120),
      }
    })
    if (!found) continue
    expect(found.isSeen, `${name}: ${found.what}`).toBe(true)
    reached.add(String(found.place))
  }
  expect(reached.size, name).toBeGreaterThanOrEqual(wanted)
}
