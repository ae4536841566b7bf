import { expect, test } from 'vitest'
import { limitsOf } from '../../../../platform/rules/limits.ts'

test('limitsOf lists the usage and the limit of each resource in its unit', () => {
  const hard = { 'requests.cpu': '8', 'limits.memory': '64Gi', pods: '100', 'count/secrets': '200' }
  const used = { 'requests.cpu': '1250m', 'limits.memory': '1536Mi', pods: '7' }
  expect(limitsOf([{ hard, used }])).toEqual([
    { resource: 'count/secrets', unit: 'objects', used: 0, most: 200 },
    { resource: 'limits.memory', unit: 'bytes', used: 1.5 * 2 ** 30, most: 64 * 2 ** 30 },
    { resource: 'pods', unit: 'objects', used: 7, most: 100 },
    { resource: 'requests.cpu', unit: 'cores', used: 1.25, most: 8 },
  ])
})

test.each([
  ['requests.storage', 'bytes'],
  ['gold.storageclass.storage.k8s.io/requests.storage', 'bytes'],
  ['gold.storageclass.storage.k8s.io/persistentvolumeclaims', 'objects'],
  ['limits.ephemeral-storage', 'bytes'],
  ['cpu', 'cores'],
  ['requests.nvidia.com/gpu', 'objects'],
  ['count/storage', 'objects'],
])('%s is counted in %s', (resource, unit) => {
  expect(limitsOf([{ hard: { [resource]: '4' } }])).toEqual([{ resource, unit, used: 0, most: 4 }])
})

test('limitsOf uses the quota that is reached first', () => {
  const one = { hard: { pods: '100' }, used: { pods: '10' } }
  const other = { hard: { pods: '12' }, used: { pods: '10' } }
  for (const quotas of [
    [one, other],
    [other, one],
  ])
    expect(limitsOf(quotas)).toEqual([{ resource: 'pods', unit: 'objects', used: 10, most: 12 }])
})

test.each([
  ['nothing counted yet', {}],
  ['what is forbidden altogether', { hard: { 'services.nodeports': '0' } }],
  ['what is no quantity', { hard: { pods: 'many' } }],
  ['a number of no kind', { hard: { pods: { more: 1 } } }],
  ['an odd use', { hard: { pods: '3' }, used: { pods: [] } }],
])('limitsOf omits %s', (_, quota) => {
  expect(limitsOf([quota])).toEqual([])
})
