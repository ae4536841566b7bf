import { test } from 'vitest'
import { tryBranchesAndFiles, tryRepositories, tryReturnPaths } from '../support/fuzz/addresses.ts'
import { tryHosts } from '../support/fuzz/hosts.ts'
import { tryClaimsOfJobs, tryClaimsOfPeople, tryDamagedTokens } from '../support/fuzz/jwts.ts'

// Runs test/unit/platform/fuzz with many more runs.
const runs = Number(process.env.FUZZ_RUNS ?? 10_000)

test('no host belongs to two namespaces', () => tryHosts(runs))
test('every accepted address of a repository is a plain address of the named host', () => tryRepositories(runs * 10))
test('an accepted branch or file is no option, and stays inside the repository', () => tryBranchesAndFiles(runs * 10))
test('a login returns to a page of the platform', () => tryReturnPaths(runs * 10))
test('a job gets a token only by claims that match a rule', () => tryClaimsOfJobs(runs / 2))
test('a changed token gives no job access', () => tryDamagedTokens(runs))
test('a user is identified by the subject, whatever other claims are sent', () => tryClaimsOfPeople(runs / 4))
