import { test } from 'vitest'
import { tryBranchesAndFiles, tryRepositories, tryReturnPaths } from '../../../support/fuzz/addresses.ts'
import { tryHosts } from '../../../support/fuzz/hosts.ts'
import { tryClaimsOfJobs, tryClaimsOfPeople, tryDamagedTokens } from '../../../support/fuzz/jwts.ts'

// Random input from strangers; `npm run test:long` sends much more (test/long/platform.test.ts).

test('no host is of two namespaces', () => tryHosts(300))
test('an address of a repository is one', () => tryRepositories(1000))
test('a branch and a file are no option, and lead nowhere else', () => tryBranchesAndFiles(1000))
test('a login leads back to the platform', () => tryReturnPaths(1000))
test('a job is let in by the claims that a rule is about', () => tryClaimsOfJobs(60))
test('a changed token lets no job in', () => tryDamagedTokens(150))
test('a person is their subject', () => tryClaimsOfPeople(30))
