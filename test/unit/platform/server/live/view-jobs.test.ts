import { expect, test } from 'vitest'
import { type ObservedEnvironment, toDetails } from '../../../../../platform/server/live/view.ts'

const service = (name: string, kind: string) => ({ service: name, kind, needs: [], endpoints: [], keys: {} })

test('a job without a run is no missing service, so it does not keep an environment from being ready', () => {
  const overview = {
    ...{ service: 'web', kind: 'Deployment', workload: 'deployment/web', state: 'ready', ready: 1, wanted: 1 },
    ...{ restarts: 0, since: undefined, image: 'x', addresses: [], exposed: [], internal: [] },
  }
  const noted = { services: [service('web', 'Deployment'), service('backup', 'CronJob')] }
  // The function reads no other fields.
  const observed = { noted, seen: [{ overview }], isCut: false } as unknown as ObservedEnvironment
  const { state, services } = toDetails('team', { name: 'shop' }, observed, () => [])
  expect(services.map(({ name }) => name)).toEqual(['web'])
  expect(state).toBe('ready')
})
