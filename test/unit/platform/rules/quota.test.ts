import { expect, test } from 'vitest'
import { limitProblem } from '../../../../platform/rules/quota.ts'

test.each([
  ['pods', '50'],
  ['services.nodeports', '0'],
  ['requests.cpu', '500m'],
  ['limits.memory', '1Pi'],
  ['requests.memory', '500k'],
  ['requests.storage', '1.5Gi'],
  ['requests.hugepages-2Mi', '1Gi'],
  ['count/certificates.cert-manager.io', '50'],
  ['requests.nvidia.com/gpu', '4'],
  ['gold.storageclass.storage.k8s.io/requests.storage', '10Gi'],
])('a quota may limit %s to %s', (name, most) => expect(limitProblem(name, most)).toBeUndefined())

test.each([
  ['requests.memory', '500K', 'is `500K`: `K` is not a valid unit, write `k`'],
  ['requests.memory', '16 GB', 'is `16 GB`: it is not a valid quantity, write `500m` or'],
  ['requests.cpu', '-1', 'is `-1`: it must not be negative, write zero or more'],
  ['pods', 5, 'has no limit as text'],
  ['pods', '500m', 'is `500m`: it has to be a whole number'],
  ['count/jobs.batch', '1.5', 'is `1.5`: it has to be a whole number'],
  ['pod', '50', 'is not a resource of a ResourceQuota: write `pods`'],
  ['limits.storage', '1Gi', 'is not a resource of a ResourceQuota: write'],
  ['jobs', '1', 'is not a resource of a ResourceQuota: write `requests.memory`, `pods` or `count/jobs.batch`'],
  ['count/a/b', '1', 'is not a resource of a ResourceQuota'],
])('a quota cannot limit %s to %s', (name, most, problem) => expect(limitProblem(name, most)).toContain(problem))
