import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PAGES } from '../../../../platform/api/pages.ts'
import { ADMINISTRATION, NAVIGATION, type NavigationPage } from '../../../../platform/web/parts/frame/navigation.ts'
import { root } from '../../../support/cases.ts'

/** Pages that a login opens. */
const OF_LOGINS = ['login', 'setup', 'cli', 'device']

const app = readFileSync(join(root, 'platform/web/app.tsx'), 'utf8')

test.each(Object.keys(PAGES))('platform/web/app.tsx shows the page %s', name => {
  const places = OF_LOGINS.includes(name) ? [`case PAGES.${name}:`] : [`<Route path={PAGES.${name}} component={`]
  expect(places.filter(place => app.split(place).length !== 2)).toEqual([])
})

test('the search finds every page that needs no parameters, and no other one', () => {
  const wanted = Object.entries(PAGES)
    .filter(([name, path]) => !path.includes(':') && !OF_LOGINS.includes(name))
    .map(([, path]) => path)
  const found = [...NAVIGATION, ...ADMINISTRATION].map(({ href }) => href)
  expect(found.toSorted()).toEqual(wanted.toSorted())
})

test('exactly the pages of administrators have addresses below /admin', () => {
  const isBelow = ({ href }: NavigationPage) => href.startsWith('/admin/')
  expect(NAVIGATION.filter(isBelow)).toEqual([])
  expect(ADMINISTRATION.filter(isBelow)).toEqual(ADMINISTRATION)
})
