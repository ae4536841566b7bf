import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { nothingPage, WAKING } from '../../../../platform/server/sleep/waker/page.ts'

const tokens = readFileSync(new URL('../../../../platform/web/style/tokens.css', import.meta.url), 'utf8')

/** Returns the colors of the pages of the platform: [light, dark]. */
function colour(name: string): readonly string[] {
  const [, light = '', dark = ''] = new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(tokens) ?? []
  return [light, dark]
}

test.each(['page', 'surface', 'ink', 'ink-2', 'line', 'accent', 'good'])(
  'pages on hosts of applications have the color of the platform: %s',
  name => {
    const used = [...WAKING.html.matchAll(new RegExp(`--${name}: (#\\w+)`, 'g'))].map(([, one]) => one)
    expect(used).toEqual(colour(name))
  },
)

test('the page for hosts without an application links to the platform, and has no script', () => {
  const { html, policy } = nothingPage('https://platform.dev.example.com')
  expect(html).toContain('<a href="https://platform.dev.example.com">Open the platform</a>')
  expect(html).not.toContain('<script')
  expect(policy).not.toContain('script-src')
  expect(nothingPage('https://x/"><b>').html).toContain('href="https://x/&#34;&#62;&#60;b&#62;"')
})
