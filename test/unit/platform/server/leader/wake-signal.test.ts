import { expect, test } from 'vitest'
import { WakeSignal } from '../../../../../platform/server/leader/wake-signal.ts'

const never = new AbortController().signal

test('a nudge ends one wait, even if it came before the wait', async () => {
  const nudge = new WakeSignal()
  const waiting = nudge.wait(60_000, never)
  nudge.now()
  await waiting
  nudge.now()
  nudge.now()
  await nudge.wait(60_000, never)
  const began = performance.now()
  await nudge.wait(50, never)
  expect(performance.now() - began).toBeGreaterThan(40)
})

test('an aborted signal ends the wait with its reason', async () => {
  const over = new AbortController()
  const waiting = new WakeSignal().wait(60_000, over.signal)
  over.abort(new Error('over'))
  await expect(waiting).rejects.toThrow('over')
})
