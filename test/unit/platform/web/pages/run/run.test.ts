import { expect, test } from 'vitest'
import { addressOf, PAGES } from '../../../../../../platform/api/pages.ts'
import { RunPage } from '../../../../../../platform/web/pages/run/run.tsx'
import { json, openPage, routed } from '../../stub-page.ts'

test('a run whose log is refused shows the reason', async () => {
  const user = { id: 'a', login: 'ann' }
  const created = '2026-01-01T00:00:00Z'
  const run = { id: 'r1', namespace: 'team', environment: 'shop', action: 'deploy', state: 'succeeded', created, user }
  const page = openPage(
    path => {
      if (path.endsWith('/log')) return json({ code: 'platform/refused', message: 'the log is not yours' }, 403)
      return json(path.endsWith('/runs/r1') ? run : { items: [] })
    },
    `https://platform.example.com${addressOf('run', { id: 'r1' })}`,
  )
  page.show(routed(PAGES.run, RunPage))
  await page.pass(500)
  expect(page.root.text).toContain('The log is not yours')
})
