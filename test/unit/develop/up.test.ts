import { expect, test } from 'vitest'
import { developedServices, failedOriginals } from '../../../develop/up.ts'
import type { DeployOutcome, ServiceState } from '../../../operations/deploy/outcome.ts'

const failed = (services: Readonly<Record<string, ServiceState>>, more: object = {}): DeployOutcome => ({
  kind: 'failed',
  environment: 'shop',
  namespace: 'dev',
  waits: false,
  services: new Map(Object.entries(services)),
  endpoints: [],
  milliseconds: 1,
  ...more,
})

test('a failed service is developed nevertheless, and the services that wait for it are named', () => {
  expect(failedOriginals(failed({ job: 'not-ready', app: 'not-made', db: 'ready' }), ['job'])).toBe(
    'job is not ready, and is developed nevertheless; afterwards, `devctl deploy` deploys app',
  )
  expect(failedOriginals(failed({ api: 'not-ready', web: 'not-ready' }), ['web', 'api'])).toBe(
    'api, web are not ready, and are developed nevertheless',
  )
})

test.each<[string, DeployOutcome]>([
  ['another service fails, too', failed({ job: 'not-ready', db: 'not-ready' })],
  ['the deploy ended at the deadline', failed({ job: 'not-ready' }, { ended: new Error('late') })],
  ['no service has failed', failed({ job: 'not-waited-for' })],
  ['the files have errors', { kind: 'refused', diagnostics: [] }],
])('failedOriginals allows no development if %s', (_, outcome) => {
  expect(failedOriginals(outcome, ['job'])).toBeUndefined()
})

test('developedServices names all services in the Pods of the developed workloads', () => {
  const found = [{ service: 'my_api', development: { name: 'backend' } }] as unknown as Parameters<
    typeof developedServices
  >[0]
  const containers = [{ name: 'my-api' }, { name: 'proxy' }]
  const workload = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'my-api' },
    spec: { template: { spec: { containers } } },
  }
  const developed = developedServices(found, [workload, undefined])
  expect(new Set(developed)).toEqual(new Set(['backend', 'my-api', 'proxy']))
  expect(failedOriginals(failed({ 'my-api': 'not-ready', proxy: 'not-ready' }), developed)).toBe(
    'my-api, proxy are not ready, and are developed nevertheless',
  )
})
