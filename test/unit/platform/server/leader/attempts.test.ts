import { expect, test } from 'vitest'
import { Attempts } from '../../../../../platform/server/leader/attempts.ts'

test('a failure is logged when it begins, when it changes, and when it comes back', async () => {
  const logged: string[] = []
  const attempts = new Attempts({ now: () => 0, log: ({ text }) => void logged.push(text) }, 'deleting')
  const signal = new AbortController().signal
  const attempt = (name: string, failure?: string, step = 'empty') =>
    attempts.at(name, step, signal, async () => {
      if (failure !== undefined) throw new Error(failure)
    })
  for (const failure of ['full', 'full', 'gone', undefined, 'gone']) await attempt('shop', failure)
  await attempt('blog', 'gone')
  // Another step of the item succeeds on each pass.
  for (let pass = 0; pass < 3; pass++) {
    await attempt('shop', undefined, 'remember')
    await attempt('shop', 'gone')
  }
  expect(logged).toEqual(['deleting shop: full', 'deleting shop: gone', 'deleting shop: gone', 'deleting blog: gone'])
})
