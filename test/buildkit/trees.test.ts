import { test } from 'vitest'
import { findBuildkit } from './buildkit.ts'
import { expectSameFiles } from './same-files.ts'

const address = findBuildkit()

// Others are generated in test/long.
test.skipIf(!address)('generated contexts give the files that buildctl gives', async () => {
  await expectSameFiles(address!, { numRuns: 40, seed: 20261122 })
})
