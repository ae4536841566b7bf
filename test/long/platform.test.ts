import { test } from 'vitest'
import { tryBranchesAndFiles, tryRepositories, tryReturnPaths } from '../support/fuzz/addresses.ts'
import { tryHosts } from '../support/fuzz/hosts.ts'
import { tryClaimsOfJobs, tryClaimsOfPeople, tryDamagedTokens } from '../support/fuzz/jwts.ts'

// Like test/unit/platform/fuzz, with many more runs.
const runs = Number(process.env.FUZZ_RUNS ?? 10_000)

test('no host is of two namespaces', () => tryHosts(runs))
test('an address of a repository is one', () => tryRepositories(runs * 10))
test('a branch and a file are no option, and lead nowhere else', () => tryBranchesAndFiles(runs * 10))
test('a login leads back to the platform', () => tryReturnPaths(runs * 10))
test('a job is let in by the claims that a rule is about', () => tryClaimsOfJobs(runs / 2))
test('a changed token lets no job in', () => tryDamagedTokens(runs))
test('a person is their subject', () => tryClaimsOfPeople(runs / 4))
