import { expect, test } from 'vitest'
import { hostileProject } from '../support/hostile/grammar.ts'
import { compileWatched } from '../support/hostile/watched.ts'

const runs = Number(process.env.LONG_RUNS ?? 1_000)
const first = Number(process.env.LONG_SEED ?? 1)

test(`${runs} hostile projects end in manifests or in diagnostics`, { timeout: 3_600_000 }, async () => {
  for (let seed = first; seed < first + runs; seed++) {
    const { status, stderr } = await compileWatched(hostileProject(seed))
    const said = `seed ${seed}: ${stderr.slice(-2_000)}`
    expect([0, 1], said).toContain(status)
    if (status === 1) expect(stderr, said).toMatch(/^error\[[a-z-]+\/[a-z0-9-]+\]: /m)
    expect(stderr, said).not.toMatch(/^\s+at .*\.(?:ts|cjs|mjs):\d+/m)
  }
})
