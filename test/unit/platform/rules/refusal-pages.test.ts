import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isExplained, REFUSAL_PAGES } from '../../../../platform/rules/refusal-pages.ts'
import { root } from '../../../support/cases.ts'

/** The codes in the calls that make an error of the platform: its constructor, and what the app answers by itself. */
function sentCodes(): ReadonlySet<string> {
  const server = join(root, 'platform/server')
  const files = readdirSync(server, { recursive: true, encoding: 'utf8' }).filter(path => path.endsWith('.ts'))
  const calls = /\b(?:new PlatformError\(\s*\d+,\s*|new PlatformError\([^']*, |body\()'([a-z-]+)'/g
  return new Set(
    files.flatMap(path => [...readFileSync(join(server, path), 'utf8').matchAll(calls)].map(match => match[1]!)),
  )
}

test('the server sends exactly the codes that have a page', () => {
  expect([...sentCodes()].sort()).toEqual(Object.keys(REFUSAL_PAGES).sort())
})

test('only whole codes with a page are explained', () => {
  expect(isExplained('platform/quota')).toBe(true)
  for (const code of ['quota', 'platform/', 'platform/toString', 'platform/of-a-newer-one'])
    expect(isExplained(code), code).toBe(false)
})
