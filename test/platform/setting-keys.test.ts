import { expect, test } from 'vitest'
import { platformObjects, SETTINGS_FILE } from '../../platform/install/server.ts'
import { unknownSettings } from '../../platform/rules/setting-keys.ts'

test('all that an installation writes is known', () => {
  const objects = platformObjects({
    version: '1.0.0',
    domain: 'dev.example.com',
    image: 'x',
    runnerImage: 'x',
    replicas: 1,
    clusterNetworks: ['10.42.0.0/16'],
    areNetworksNamed: true,
    trustedProxies: ['10.0.0.1'],
    kubernetes: { server: 'https://k.example.com' },
    providers: [],
    registry: 'registry.example.com',
    hasRegistryTokens: true,
    bundledRegistry: { image: 'x', size: '1Gi' },
    bundledBuilders: { image: 'x', size: '1Gi', count: 1, untrusted: 1, networks: [] },
    kept: { quota: { pods: '3' }, sleepHours: { namespace: 1, preview: 1 }, runs: { perUser: 3 }, forges: [], ci: [] },
  })
  const settings = objects.find(({ metadata }) => metadata.name === 'settings')?.['data'] as Readonly<
    Record<string, string>
  >
  expect(unknownSettings(JSON.parse(settings[SETTINGS_FILE]!))).toEqual([])
})

test.each([
  [{ namespacePerUser: 3 }, [{ key: 'namespacePerUser', hint: 'did you mean `namespacesPerUser`?' }]],
  [{ runs: { perUsers: 3, image: 'x' } }, [{ key: 'runs.perUsers', hint: 'did you mean `perUser`?' }]],
  [{ deleteHours: { namespace: 1, weeks: 2 } }, [{ key: 'deleteHours.weeks' }]],
  [{ toString: 1 }, [{ key: 'toString' }]],
  [{ quota: { anything: '3' } }, []],
  [{ sleepHours: null, runs: 'x' }, []],
])('%j', (settings, unknown) => {
  expect(unknownSettings(settings)).toEqual(unknown)
})
