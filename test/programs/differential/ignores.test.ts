import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseIgnores } from '../../../sync/ignore/ignore.ts'
import { lacks } from '../../support/lacks.ts'
import { filesOf, generateIgnores, PATHS } from './generate-ignores.ts'
import { hasSyncthing, type Syncthing, startSyncthing } from './syncthing.ts'

// `DIFF_RUNS=5000 DIFF_SEED=1 npx vitest run test/programs/differential/ignores.test.ts` makes more files, or others.
const runs = Number(process.env.DIFF_RUNS ?? 25)
const firstSeed = Number(process.env.DIFF_SEED ?? 1)

describe.skipIf(lacks('syncthing', !hasSyncthing()))('ignore files compared with Syncthing', () => {
  let syncthing: Syncthing
  beforeAll(async () => {
    syncthing = await startSyncthing(PATHS)
  })
  afterAll(() => syncthing?.stop())

  test(`seeds ${firstSeed} to ${firstSeed + runs - 1} match Syncthing`, { timeout: 60_000 + runs * 500 }, async () => {
    let compared = 0
    for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
      const { lines, included } = generateIgnores(seed)
      const theirs = await syncthing.included(lines, included)
      // Syncthing refuses a file with a line that it does not understand; devctl applies the other lines.
      if (theirs === undefined) continue
      compared++
      const { rules, problems } = parseIgnores(lines.join('\n'), name => included[name])
      const context = `seed ${seed}: ${JSON.stringify(lines)} ${JSON.stringify(included)}`
      expect(problems, context).toEqual([])
      expect(filesOf(rules), context).toEqual(theirs.filter(path => PATHS.includes(path)))
    }
    expect(compared).toBeGreaterThan(runs / 2)
  })
})
