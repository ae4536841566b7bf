import { describe, expect, test } from 'vitest'
import { splitCredentials, withCredentials } from '../../gitops/address-credentials.ts'

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
    ['https://ci:100%@git.example.com/x', { origin: 'https://git.example.com', user: 'ci', password: '100%' }],
  ])('%s', (address, credentials) => {
    const split = splitCredentials(address)
    expect(split.credentials).toEqual(credentials)
    expect(split.url).toBe(credentials ? address.replace(/\/\/.*@/, '//') : address)
  })
})

describe('withCredentials', () => {
  test('adds to the settings that are there, and writes no password into one', () => {
    const credentials = { origin: 'https://h', user: 'ci', password: 'word' }
    const env = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'a.b', GIT_CONFIG_VALUE_0: 'c' }
    const { DEVCTL_ADDRESS_PASSWORD, ...more } = withCredentials(env, credentials)
    expect(DEVCTL_ADDRESS_PASSWORD).toBe('word')
    expect(more).toMatchObject({ ...env, GIT_CONFIG_COUNT: '3', GIT_CONFIG_KEY_1: 'credential.https://h.helper' })
    expect(JSON.stringify(more)).not.toContain('word"')
  })

  test('of a user alone only the name is set', () => {
    expect(withCredentials({}, { origin: 'https://h', user: 'ci' })).toEqual({
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'credential.https://h.username',
      GIT_CONFIG_VALUE_0: 'ci',
    })
  })
})
