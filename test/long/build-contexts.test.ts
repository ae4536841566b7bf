import { test } from 'vitest'
import { findBuildkit } from '../support/buildkit/buildkit.ts'
import { expectSameFiles } from '../support/buildkit/same-files.ts'

const address = findBuildkit()

test.skipIf(!address)('hundreds of generated contexts give the files that buildctl gives', async () => {
  await expectSameFiles(address!, { numRuns: Number(process.env.TREE_RUNS ?? 500) })
})
