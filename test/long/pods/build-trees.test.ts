import { test } from 'vitest'
import { findBuildkit } from '../../support/buildkit/buildkit.ts'
import { expectSameFiles } from '../../support/buildkit/same-files.ts'

const address = findBuildkit()

// The tests in test/long generate other contexts.
test.skipIf(!address)('generated contexts give the files that buildctl gives', async () => {
  await expectSameFiles(address!, { numRuns: 12, seed: 20261122 })
})
