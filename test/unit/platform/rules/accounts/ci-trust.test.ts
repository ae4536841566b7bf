import { expect, test } from 'vitest'
import { isCiRule, isPrefix, ruleFor, toCiJob } from '../../../../../platform/rules/accounts/ci-trust.ts'
import { addressKey, Limiter } from '../../../../../platform/rules/accounts/limiter.ts'

const job = { repository: '1', owner: '2', name: 'acme/shop', ref: 'refs/heads/main', event: 'push' }
const prefix = 'shop-'

test.each([
  [{ repository: '1', prefix }, true],
  [{ owner: '2', prefix }, true],
  [{ repository: '1', owner: '3', prefix }, false],
  [{ repository: '1', ref: 'refs/heads/main', prefix }, true],
  [{ repository: '1', ref: 'refs/heads/*', prefix }, true],
  [{ repository: '1', ref: '*/main', prefix }, true],
  [{ repository: '1', ref: 'refs/*/ma*n', prefix }, true],
  [{ repository: '1', ref: 'refs/heads/main*main', prefix }, false],
  [{ repository: '1', ref: 'heads/main', prefix }, false],
  [{ repository: '1', event: 'push', prefix }, true],
  [{ repository: '1', event: 'schedule', prefix }, false],
  [{ prefix }, false],
])('the rule %j matches the job: %j', (rule, does) => {
  expect(ruleFor(job, [rule]) !== undefined).toBe(does)
})

test('an event that runs code of outsiders needs a rule that names it', () => {
  const risky = { ...job, event: 'pull_request_target' }
  expect(ruleFor(risky, [{ repository: '1', prefix }])).toBeUndefined()
  expect(ruleFor(risky, [{ repository: '1', event: 'pull_request_target', prefix }])).toBeDefined()
})

test('toCiJob reads the claims of GitLab, and refuses a project that is not a number', () => {
  const claims = {
    project_id: '22',
    namespace_id: 72,
    project_path: 'g/p',
    ref_path: 'refs/heads/x',
    pipeline_source: 'push',
  }
  expect(toCiJob('gitlab', claims)).toEqual({
    repository: '22',
    owner: '72',
    name: 'g/p',
    ref: 'refs/heads/x',
    event: 'push',
  })
  expect(toCiJob('gitlab', { ...claims, project_id: 'g/p' })).toBeUndefined()
})

test.each([
  [{ repository: '1', prefix }, true],
  [{ repository: 1, prefix }, false],
  [{ repository: 'acme/shop', prefix }, false],
  [{ prefix }, false],
  [{ repository: '1', prefix: 'shop' }, false],
  [{ repository: '1', prefix: '' }, false],
  [{ repository: '1', prefix, branch: 'main' }, false],
  [null, false],
])('isCiRule(%j) returns %j', (rule, is) => {
  expect(isCiRule(rule)).toBe(is)
})

test('a prefix ends with a dash', () => {
  expect(['shop-', 'a-b-', 'shop', '-', 'Shop-', `${'x'.repeat(31)}-`].map(isPrefix)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ])
})

test('a limiter allows a burst, and then one call per interval', () => {
  const limiter = new Limiter({ burst: 3, every: 1000, keys: 10 })
  expect([1, 2, 3].map(() => limiter.take('a', 0))).toEqual([0, 0, 0])
  expect(limiter.take('a', 0)).toBe(1000)
  expect(limiter.take('b', 0)).toBe(0)
  expect(limiter.take('a', 1000)).toBe(0)
  expect(limiter.take('a', 1000)).toBe(1000)
  expect(limiter.take('a', 1_000_000)).toBe(0)
})

test('a limiter remembers a limited number of keys, and forgets the oldest ones', () => {
  const limiter = new Limiter({ burst: 1, every: 1_000_000, keys: 100 })
  for (let at = 0; at < 10_000; at++) limiter.take(`k${at}`, 0)
  expect(limiter.size).toBe(100)
  expect(limiter.take('k9999', 0)).toBeGreaterThan(0)
})

test.each([
  ['10.1.2.3', '10.1.2.3'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:0DB8:1:2::9', '2001:db8:1:2'],
  ['2001:db8::9', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
])('addressKey maps %s to %s', (address, key) => {
  expect(addressKey(address)).toBe(key)
})
