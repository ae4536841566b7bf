import fc from 'fast-check'
import { test } from 'vitest'
import { expectLastWord, lives } from './killed-laptop.ts'

// These runs take three times as long as those of `nothing-lost`.
const runs = Math.ceil(Number(process.env.SYNC_RUNS ?? 30) / 3)
const seed = Number(process.env.SYNC_SEED ?? 20_261_123)

test('a laptop that is killed at any moment causes no false conflict and undoes no change', async () => {
  await fc.assert(fc.asyncProperty(lives, expectLastWord), { numRuns: runs, seed, interruptAfterTimeLimit: 500_000 })
}, 600_000)
