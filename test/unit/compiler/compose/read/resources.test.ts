import { expect, test } from 'vitest'
import { type Json, readWeb } from './read.ts'

const resourcesOf = (service: Json) => {
  const { web, found } = readWeb(service)
  const { limits, requests } = web.resources
  return {
    found,
    limits: [limits.cpu?.value, limits.memory?.value, limits.ephemeralStorage?.value],
    requests: [requests.cpu?.value, requests.memory?.value],
  }
}
const none = undefined

test.each<[Json, (string | undefined)[], (string | undefined)[]]>([
  [{}, [none, none, none], [none, none]],
  [{ cpus: 0.5, mem_limit: '536870912' }, ['500m', '512Mi', none], [none, none]],
  [{ cpus: 0.1 }, ['100m', none, none], [none, none]],
  [{ cpus: 0, mem_limit: '0' }, [none, none, none], [none, none]],
  [{ cpu_count: 2 }, ['2', none, none], [none, none]],
  [{ cpus: 1.5, cpu_count: 2 }, ['1500m', none, none], [none, none]],
  [{ cpu_quota: 50000 }, ['500m', none, none], [none, none]],
  [{ cpu_quota: 50000, cpu_period: 25000 }, ['2', none, none], [none, none]],
  [{ cpu_quota: -1 }, [none, none, none], [none, none]],
  [{ cpu_shares: 512 }, [none, none, none], ['500m', none]],
  [{ cpu_shares: 1024, cpus: 0.5 }, ['500m', none, none], ['500m', none]],
  [{ mem_reservation: '20971520' }, [none, none, none], [none, '20Mi']],
  [{ mem_limit: '1000' }, [none, '1k', none], [none, none]],
  [{ storage_opt: { size: '10G' } }, [none, none, '10Gi'], [none, none]],
  [
    {
      deploy: {
        resources: { limits: { cpus: 2, memory: '1073741824' }, reservations: { cpus: 0.0001, memory: '1048576' } },
      },
    },
    ['2', '1Gi', none],
    ['1m', '1Mi'],
  ],
  [
    { resources: { limits: { cpu: '500m', memory: '128Mi' }, requests: { cpu: 0.25, memory: '64M' } } },
    ['500m', '128Mi', none],
    ['250m', '64M'],
  ],
  [{ resources: { requests: { cpu: 0, memory: '0' } } }, [none, none, none], ['0', '0']],
  // One amount in several notations does not conflict.
  [
    { resources: { limits: { cpu: 1 } }, cpus: 1, cpu_quota: 100000, deploy: { resources: { limits: { cpus: 1 } } } },
    ['1', none, none],
    [none, none],
  ],
])('the resources of %j are read', (service, limits, requests) => {
  expect(resourcesOf(service)).toEqual({ found: [], limits, requests })
})

test.each<[Json, string]>([
  [{ cpus: -1 }, 'error resources/negative -1'],
  [{ cpu_shares: -2 }, 'error resources/negative -2'],
  [{ mem_limit: '-1' }, 'error resources/negative "-1"'],
  [{ resources: { limits: { memory: '-1Gi' } } }, 'error resources/negative "-1Gi"'],
  [{ resources: { limits: { memory: '512m' } } }, 'error resources/part-of-byte "512m"'],
  [{ resources: { limits: { memory: '512MB' } } }, 'error resources/bad-quantity MB'],
  [{ resources: { limits: { cpu: 'half' } } }, 'error resources/bad-quantity half'],
  [{ storage_opt: { size: 'big' } }, 'error resources/bad-quantity big'],
  [{ cpus: 1, resources: { limits: { cpu: '2' } } }, 'error resources/conflict 1'],
  [{ cpu_quota: 50000, cpus: 1 }, 'error resources/conflict 50000'],
  [{ cpus: 1, deploy: { resources: { reservations: { cpus: 2 } } } }, 'error resources/request-above-limit 2'],
  [{ mem_limit: '1048576', mem_reservation: '2097152' }, 'error resources/request-above-limit "2097152"'],
  [{ resources: { limits: { cpu: '100m' }, requests: { cpu: '1' } } }, 'error resources/request-above-limit "1"'],
])('the resources of %j are refused', (service, problem) => {
  expect(resourcesOf(service).found).toEqual([problem])
})

test('a conflict names both keys, and a part of a byte gets a hint', () => {
  const conflict = readWeb({ mem_limit: '1048576', resources: { limits: { memory: '2Mi' } } })
  expect(conflict.messages).toEqual(['`mem_limit` is `1Mi`, but `resources.limits.memory` is `2Mi`'])
  expect(conflict.related).toEqual(['"2Mi"'])
  const small = readWeb({ resources: { limits: { memory: '512m' } } })
  expect(small.hints).toEqual(['write `512Mi`: the suffix `m` means thousandths here'])
})
