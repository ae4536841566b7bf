import { expect, test } from 'vitest'
import { hostileProject } from '../../support/hostile/grammar.ts'
import { compileWatched } from '../../support/hostile/watched.ts'
import { few } from '../../support/takes-all.ts'

// `npm run test:long` tries many more.
test.each(few([1, 2, 3]))('hostile project %i ends in manifests or in diagnostics', { timeout: 60_000 }, async seed => {
  const { status, stderr } = await compileWatched(hostileProject(seed))
  expect([0, 1], stderr.slice(-2_000)).toContain(status)
  if (status === 1) expect(stderr).toMatch(/^error\[[a-z-]+\/[a-z0-9-]+\]: /m)
})
