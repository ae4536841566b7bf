import { describe, expect, test } from 'vitest'
import { loginOf, splitCredentials, withUser } from '../../../../adapters/git/address-credentials.ts'
import { loginSettings } from '../../../../adapters/git/login.ts'

describe('splitCredentials', () => {
  test.each([
    ['https://git.example.com/org/deploy.git', undefined],
    ['git@git.example.com:org/deploy.git', undefined],
    ['ssh://git:word@git.example.com/org/deploy', undefined],
    ['https://token@git.example.com/x/y', { origin: 'https://git.example.com', user: 'token' }],
    [
      'http://ci:p%40ss%2520@git.example.com:8080/x/y',
      { origin: 'http://git.example.com:8080', user: 'ci', password: 'p@ss%20' },
    ],
    ['https://ci:p@ss@git.example.com/x', { origin: 'https://git.example.com', user: 'ci', password: 'p@ss' }],
    ['https://ci:100%@git.example.com/x', { origin: 'https://git.example.com', user: 'ci', password: '100%' }],
  ])('splitCredentials separates credentials from %s', (address, credentials) => {
    const split = splitCredentials(address)
    expect(split.credentials).toEqual(credentials)
    expect(split.url).toBe(credentials ? address.replace(/\/\/.*@/, '//') : address)
  })
})

test('loginOf marks credentials of an address, and withUser adds nothing if there is a password', () => {
  const credentials = { origin: 'https://h', user: 'ci', password: 'word' }
  expect(loginOf(credentials)).toEqual([{ ...credentials, isOfAddress: true }])
  expect(withUser({ A: 'b' }, credentials)).toEqual({ A: 'b' })
})

test.each([
  ['ci\n', 'word'],
  ['ci', 'a\nb'],
  ['ci', 'a\r'],
])('loginOf returns no login that git could not read: user %j, password %j', (user, password) => {
  expect(loginOf({ origin: 'https://h', user, password })).toEqual([])
})

test('withUser sets only the name of a user, after the existing settings', () => {
  const env = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'a.b', GIT_CONFIG_VALUE_0: 'c' }
  expect(withUser(env, { origin: 'https://h', user: 'ci' })).toEqual({
    ...env,
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_1: 'credential.https://h.username',
    GIT_CONFIG_VALUE_1: 'ci',
  })
})

test('loginSettings contain no password, because hooks inherit them', () => {
  const settings = loginSettings(loginOf({ origin: 'https://h', user: 'ci', password: 'horse-battery' }))
  expect(settings.map(([key]) => key)).toEqual(['credential.https://h.helper', 'credential.https://h.helper'])
  expect(JSON.stringify(settings)).not.toContain('horse-battery')
})
