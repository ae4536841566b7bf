import { expect, test } from 'vitest'
import type { Me } from '../../../../../../platform/api/me.ts'
import { addressOf, PAGES } from '../../../../../../platform/api/pages.ts'
import { NamespaceSettings } from '../../../../../../platform/web/pages/namespace/settings.tsx'
import { me } from '../../../../../../platform/web/state/session.ts'
import { json, openPage, openStream, routed } from '../../stub-page.ts'

const OWNER = { id: 'o', login: 'olga' }
const TEAM = { name: 'team', kind: 'namespace', status: 'Active', role: 'owner', owner: OWNER, members: [] }

test('nobody is selected as the new owner until the user selects a person', async () => {
  let users = [OWNER, { id: 'n', login: 'ann' }]
  const page = openPage(
    (path, init) => {
      if (path.endsWith('/live')) return openStream([], init)
      if (path.endsWith('/users')) return json({ items: users })
      return json(path.endsWith('/namespaces/team') ? TEAM : { items: [] })
    },
    `https://platform.example.com${addressOf('settings', { ns: 'team' })}`,
  )
  me.value = { ...OWNER, role: 'admin' } as Me
  page.show(routed(PAGES.settings, NamespaceSettings))
  await page.pass(100)
  page.root.button('Transfer').dispatchEvent(new Event('click'))
  await page.pass(100)
  const [dialog] = page.root.all('dialog')
  const selected = () => /devctl namespace share team (\S+)/.exec(dialog?.text ?? '')?.[1]
  expect(selected()).toBe('USER')
  expect(dialog?.all('option').map(one => one.text)).toEqual(['Choose a person', 'ann'])
  const [select] = dialog?.all('select') ?? []
  Object.assign(select ?? {}, { value: 'n' })
  select?.dispatchEvent(new Event('change'))
  users = [OWNER, { id: 'b', login: 'aaron' }, { id: 'n', login: 'ann' }]
  await page.pass(20_000)
  expect(dialog?.all('option').map(one => one.text)).toEqual(['Choose a person', 'aaron', 'ann'])
  expect(selected()).toBe('ann')
})
