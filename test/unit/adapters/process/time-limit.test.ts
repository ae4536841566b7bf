import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { withTimeLimit } from '../../../../adapters/process/time-limit.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Resolves when the signal is aborted, while all unreferenced objects are garbage-collected. */
function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const until = Date.now() + 5000
    const timer = setInterval(() => {
      collectGarbage()
      if (!signal.aborted && Date.now() < until) return
      clearInterval(timer)
      if (signal.aborted) resolve(signal.reason)
      else reject(new Error('the signal was not aborted'))
    }, 10)
  })
}

test('withTimeLimit aborts after its time even if nothing refers to the signal of the timer', async () => {
  const reason = await aborted(withTimeLimit(200, new AbortController().signal))
  expect(reason).toMatchObject({ name: 'TimeoutError' })
})

test('withTimeLimit aborts earlier if the other signal is aborted', async () => {
  const other = new AbortController()
  const signal = withTimeLimit(60_000, other.signal)
  other.abort('because')
  expect(await aborted(signal)).toBe('because')
})
