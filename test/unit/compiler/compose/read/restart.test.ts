import { expect, test } from 'vitest'
import { readWeb } from './read.ts'

const policyOf = (service: Parameters<typeof readWeb>[0]) => {
  const { web, found } = readWeb(service)
  return { policy: web.restart.policy?.value, attempts: web.restart.maxAttempts?.value, found }
}

test.each([
  ['always', 'always'],
  ['unless-stopped', 'always'],
  ['any', 'always'],
  ['no', 'no'],
  ['none', 'no'],
  ['never', 'no'],
  ['on-failure', 'on-failure'],
])('%s means %s, in `restart` and in `condition`', (word, policy) => {
  expect(policyOf({ restart: word })).toEqual({ policy, attempts: undefined, found: [] })
  expect(policyOf({ deploy: { restart_policy: { condition: word } } })).toEqual({
    policy,
    attempts: undefined,
    found: [],
  })
})

test('no policy is set by default', () => {
  expect(policyOf({})).toEqual({ policy: undefined, attempts: undefined, found: [] })
})

test.each([
  [{ restart: 'on-failure:3' }, 3],
  [{ restart: 'on-failure:0' }, undefined],
  [{ restart: 'on-failure', deploy: { restart_policy: { max_attempts: 4 } } }, 4],
  [{ restart: 'on-failure:3', deploy: { restart_policy: { max_attempts: 4 } } }, 4],
  [{ restart: 'on-failure:3', deploy: { restart_policy: { condition: 'on-failure' } } }, 3],
  [{ deploy: { restart_policy: { condition: 'on-failure', max_attempts: 0 } } }, undefined],
])('%j has %s attempts', (service, attempts) => {
  expect(policyOf(service)).toEqual({ policy: 'on-failure', attempts, found: [] })
})

test('the condition takes precedence over `restart`, with a warning if they differ', () => {
  const { web, found, related } = readWeb({
    restart: 'on-failure:3',
    deploy: { restart_policy: { condition: 'none' } },
  })
  expect(web.restart.policy?.value).toBe('no')
  expect(web.restart.maxAttempts).toBeUndefined()
  expect(found).toEqual(['warning restart/contradiction "on-failure:3"'])
  expect(related).toEqual(['"none"'])
})

test('two words for the same policy do not conflict', () => {
  expect(policyOf({ restart: 'unless-stopped', deploy: { restart_policy: { condition: 'any' } } }).found).toEqual([])
})

test('a number of attempts above 32 bits is an error', () => {
  expect(policyOf({ restart: 'on-failure:99999999999' }).found.join()).toContain('schema/count-too-large')
  expect(policyOf({ restart: 'on-failure:2147483647' }).found).toEqual([])
})
