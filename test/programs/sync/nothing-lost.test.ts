import fc from 'fast-check'
import { test } from 'vitest'
import { expectNothingLost, steps } from './random-edits.ts'

const runs = Number(process.env.SYNC_RUNS ?? 150)
const seed = Number(process.env.SYNC_SEED ?? 20_261_122)

test('two edited trees end equal or with a named conflict, over connections that break', async () => {
  await fc.assert(fc.asyncProperty(steps, fc.boolean(), fc.boolean(), expectNothingLost), {
    numRuns: runs,
    seed,
    interruptAfterTimeLimit: 500_000,
  })
}, 600_000)

test('new ignore rules and a cut before the agent has sent its tree lose nothing', async () => {
  await expectNothingLost(
    [
      { kind: 'ignore', text: '' },
      { kind: 'write', side: 'local', path: 'image/one' },
      { kind: 'wait', milliseconds: 6 },
      { kind: 'cut', frames: 1 },
      { kind: 'write', side: 'remote', path: 'a' },
      { kind: 'write', side: 'local', path: 'd' },
    ],
    false,
    false,
  )
})

test('an ignored local file in place of a folder of the container loses nothing', async () => {
  await expectNothingLost(
    [
      { kind: 'ignore', text: '!d/x\nd\n' },
      { kind: 'write', side: 'local', path: 'd' },
      { kind: 'wait', milliseconds: 300 },
      { kind: 'write', side: 'remote', path: 'd/e/z' },
      { kind: 'wait', milliseconds: 20 },
    ],
    true,
    true,
  )
})
