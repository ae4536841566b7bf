import { test } from 'vitest'
import { tryBranchesAndFiles, tryRepositories, tryReturnPaths } from '../../../support/fuzz/addresses.ts'
import { tryHosts } from '../../../support/fuzz/hosts.ts'
import { tryClaimsOfJobs, tryClaimsOfPeople, tryDamagedTokens } from '../../../support/fuzz/jwts.ts'

// Random input from strangers; `npm run test:long` sends much more (test/long/platform.test.ts).

test('no two namespaces can have the same host', () => tryHosts(300))
test('an accepted address of a repository is a plain address of its host', () => tryRepositories(1000))
test('a branch is no option, and a file is below the repository', () => tryBranchesAndFiles(1000))
test('a login leads back to the platform', () => tryReturnPaths(1000))
test('a job gets a token only by claims that a rule is about', () => tryClaimsOfJobs(60))
test('a changed token of a job is refused, or is still the same token', () => tryDamagedTokens(150))
test('a login yields the subject of the user, or is refused', () => tryClaimsOfPeople(30))
