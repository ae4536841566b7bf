import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { askUntilInterrupted, watchForInterruption } from '../../../../cli/terminal/interruption.ts'

let watched: ReturnType<typeof watchForInterruption> | undefined
// A process that `nohup` has started, as these tests may be, ignores SIGHUP.
beforeEach(() => {
  vi.stubEnv('_', '')
})
afterEach(() => {
  watched?.stop()
  vi.unstubAllEnvs()
})

/** Asks a question that stays unanswered until its signal is aborted. */
const unanswered = (signal: AbortSignal): Promise<string | undefined> =>
  new Promise(resolve => signal.addEventListener('abort', () => resolve(undefined)))

test('a question ends at each signal that interrupts the process', async () => {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    watched = watchForInterruption()
    const listeners = process.listenerCount(name)
    const answer = askUntilInterrupted(unanswered)
    process.kill(process.pid, name)
    expect(await answer).toBeUndefined()
    expect(watched.signal.aborted).toBe(true)
    expect(process.listenerCount(name)).toBe(listeners)
    watched.stop()
  }
})

test('Ctrl-C at a question interrupts the command before it continues', async () => {
  watched = watchForInterruption()
  const answer = await askUntilInterrupted(async (_, onLeave) => {
    onLeave()
    return undefined
  })
  expect([answer, watched.signal.aborted]).toEqual([undefined, true])
})

test('an answer interrupts nothing', async () => {
  watched = watchForInterruption()
  expect(await askUntilInterrupted(async () => 'yes')).toBe('yes')
  expect(watched.signal.aborted).toBe(false)
})
