import fc from 'fast-check'
import { test } from 'vitest'
import { expectLastWord, lives } from './killed-laptop.ts'

// They take three times as long as those of `nothing-lost`.
const runs = Math.ceil(Number(process.env.SYNC_RUNS ?? 30) / 3)
const seed = Number(process.env.SYNC_SEED ?? 20_261_123)

test('the laptop is killed at any moment: no change is taken for a conflict, and none is undone', async () => {
  await fc.assert(fc.asyncProperty(lives, expectLastWord), { numRuns: runs, seed, interruptAfterTimeLimit: 500_000 })
}, 600_000)
