import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { expect, test } from 'vitest'
import type { Webhook } from '../../../../../../platform/api/hooks.ts'
import { LastDelivery } from '../../../../../../platform/web/pages/webhooks/last-delivery.tsx'

const hook: Webhook = {
  id: 'a'.repeat(16),
  forge: 'github',
  repository: 'https://github.com/team/shop',
  owner: { id: 'b'.repeat(16), login: 'ann' },
  scope: 'personal',
  forks: 'approve',
  prefix: 'shop-',
  address: '',
  events: '',
  created: '',
  pulls: [],
}
const time = '2026-01-01T00:00:00Z'
const [earlier, later] = ['2025-12-31T23:00:00Z', '2026-01-01T01:00:00Z']
const UNSIGNED =
  'Refused : not signed with the secret of the webhook. ' +
  'Set its secret on the forge, or remove the webhook and add it again.'
const shown = (more: Partial<Webhook>): string =>
  renderToString(h(LastDelivery, { hook: { ...hook, ...more } }))
    .replace(/<svg.*?<\/svg>|<time.*?<\/time>|<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

test.each<readonly [string, Partial<Webhook>, string]>([
  ['none', {}, 'None yet'],
  [
    'one that was accepted',
    { lastDelivery: { time, event: 'pull_request', result: 'accepted', number: 7 }, lastUnsigned: earlier },
    'Accepted · pull_request · pull request 7',
  ],
  [
    'one that was refused',
    { lastDelivery: { time, result: 'refused', reason: 'too many <b>deliveries</b>' } },
    'Refused : too many &lt;b>deliveries&lt;/b>',
  ],
  ['a wrong secret', { lastUnsigned: time }, UNSIGNED],
  [
    'a wrong secret after one that was ignored',
    { lastDelivery: { time, event: 'push', result: 'ignored', reason: 'why' }, lastUnsigned: later },
    `${UNSIGNED} Ignored · push : why`,
  ],
])('the last delivery is shown: %s', (_, more, text) => {
  expect(shown(more)).toBe(text)
})
