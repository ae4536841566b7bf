import { expect, test } from 'vitest'
import { accepted } from '../../../platform/session/with-variables.ts'

test('accepted refuses variables of a platform that run code on a laptop', () => {
  const given = [
    'GREETING',
    'NODE_OPTIONS',
    'PATH',
    'ld_preload',
    'DEVCTL_URL',
    'a b',
    'DEVCTL_COMPOSE_VOLUME_AFFINITY_ENABLED',
  ]
  const { good, refused } = accepted([
    ...given.map(name => ({ name, value: 'canary', scope: 'namespace:shop' })),
    { name: 'ZERO', value: 'a\0b', scope: 'admin' },
  ])
  expect([...good]).toEqual([
    ['GREETING', 'canary'],
    ['DEVCTL_COMPOSE_VOLUME_AFFINITY_ENABLED', 'canary'],
  ])
  expect(refused).toHaveLength(6)
  expect(refused[0]).toBe(
    'the variable `NODE_OPTIONS` of the platform (namespace:shop) is not used: it changes how programs run on the machines of all who deploy there',
  )
  expect(refused.join()).not.toContain('canary')
})
