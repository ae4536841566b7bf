import { expect, test } from 'vitest'
import { addressOf, PAGES } from '../../../../../../platform/api/pages.ts'
import { NamespaceRuns } from '../../../../../../platform/web/pages/namespace/runs.tsx'
import { json, openPage, openStream, routed } from '../../stub-page.ts'

const TEAM = { name: 'team', kind: 'namespace', status: 'Active', role: 'owner', owner: { id: 'o', login: 'olga' } }

test('the runs of a namespace say how many of them are kept', async () => {
  const page = openPage(
    (path, init) => {
      if (path.endsWith('/live')) return openStream([], init)
      return json(path.endsWith('/namespaces/team') ? { ...TEAM, members: [] } : { items: [] })
    },
    `https://platform.example.com${addressOf('runs', { ns: 'team' })}`,
  )
  page.show(routed(PAGES.runs, NamespaceRuns))
  await page.pass(100)
  expect(page.root.text).toContain('The last 10 of each environment are kept, and the last 100 of the namespace.')
})
