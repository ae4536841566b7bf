import { expect, test, vi } from 'vitest'
import { platformObjects, SETTINGS_FILE } from '../../../../platform/install/manifests/server.ts'
import { unknownSettings } from '../../../../platform/rules/setting-keys.ts'
import { readSettings } from '../../../../platform/server/settings.ts'

test('all settings that an installation writes are known', () => {
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

test('all settings that the server reads are known', () => {
  const read: Record<string, unknown> = {}
  /** Notes what is asked for, with `null` for what has no keys of its own. */
  const noting = (object: object, noted: Record<string, unknown>, hasKeys: readonly string[]): object =>
    new Proxy(object, {
      get(target, key) {
        const value = Reflect.get(target, key)
        if (typeof key !== 'string') return value
        noted[key] ??= hasKeys.includes(key) ? {} : null
        return hasKeys.includes(key) ? noting(value, noted[key] as Record<string, unknown>, []) : value
      },
    })
  const settings = {
    domain: 'dev.example.com',
    url: 'https://platform.dev.example.com',
    kubernetes: { server: 'https://k.example.com' },
    runs: { image: 'x', url: 'https://platform.dev.example.com' },
    sleepHours: {},
    deleteHours: {},
  }
  const parse = vi.spyOn(JSON, 'parse').mockReturnValue(noting(settings, read, ['runs', 'sleepHours', 'deleteHours']))
  try {
    readSettings('')
  } finally {
    parse.mockRestore()
  }
  expect(Object.keys(read)).toContain('registryShare')
  expect(Object.keys(read['sleepHours'] as object)).toEqual(['namespace', 'preview'])
  expect(unknownSettings(read)).toEqual([])
})

test.each([
  [{ namespacePerUser: 3 }, [{ key: 'namespacePerUser', hint: 'did you mean `namespacesPerUser`?' }]],
  [{ runs: { perUsers: 3, image: 'x' } }, [{ key: 'runs.perUsers', hint: 'did you mean `perUser`?' }]],
  [{ deleteHours: { namespace: 1, weeks: 2 } }, [{ key: 'deleteHours.weeks' }]],
  [{ toString: 1 }, [{ key: 'toString' }]],
  [{ quota: { anything: '3' } }, []],
  [{ sleepHours: null, runs: 'x' }, []],
])('unknownSettings checks %j', (settings, unknown) => {
  expect(unknownSettings(settings)).toEqual(unknown)
})
