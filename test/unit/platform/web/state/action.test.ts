import { h } from 'preact'
import { expect, test } from 'vitest'
import { type Action, useAction } from '../../../../../platform/web/state/action.ts'
import { platform } from '../../../../../platform/web/state/client.ts'
import { json, openPage } from '../stub-page.ts'

test.each([
  ['without a response', () => Promise.reject(new TypeError('Failed to fetch')), 'The platform cannot be reached'],
  ['that a proxy answers', () => new Response('bad gateway', { status: 502 }), 'The platform does not answer'],
])('an action %s says that it may have been done, and is not sent again', async (_, answer, message) => {
  let requests = 0
  const page = openPage(() => {
    requests++
    return answer()
  })
  let action: Action<[]> | undefined
  const Form = () => {
    action = useAction(() => platform.call('POST /namespaces/:ns/wake', { params: { ns: 'team' } }))
    return null
  }
  page.show(h(Form, {}))
  expect(await action?.run()).toBe(false)
  const hint = 'The request may have arrived. Check before you try again.'
  expect(action?.problem).toMatchObject({ kind: 'offline', message, hint })
  await page.pass(60_000)
  expect(requests).toBe(1)
})

test('an action that is refused shows the hint of the platform', async () => {
  const body = { code: 'platform/quota', message: 'there are too many', hint: 'delete one' }
  const page = openPage(() => json(body, 403))
  let action: Action<[]> | undefined
  const Form = () => {
    action = useAction(() => platform.call('POST /namespaces/:ns/wake', { params: { ns: 'team' } }))
    return null
  }
  page.show(h(Form, {}))
  await action?.run()
  expect(action?.problem).toMatchObject({ kind: 'refused', ...body })
})
