import { expect, test } from 'vitest'
import { wantedRegistry } from '../../operations/platform/install-registry.ts'

const NONE = { registry: undefined, registryTokens: false }
const HAD = { registry: 'a.example.com', registryTokens: true, sleepHours: {} }

test.each([
  ['nothing is said, and there was none', NONE, {}, {}],
  ['nothing is said', NONE, HAD, { registry: 'a.example.com', hasRegistryTokens: true }],
  [
    'the same again',
    { ...NONE, registry: 'a.example.com' },
    HAD,
    { registry: 'a.example.com', hasRegistryTokens: true },
  ],
  [
    'another: it gets no tokens by itself',
    { ...NONE, registry: 'b.example.com/x' },
    HAD,
    { registry: 'b.example.com/x', hasRegistryTokens: false },
  ],
  [
    'tokens for what was there',
    { ...NONE, registryTokens: true },
    { registry: 'a.example.com' },
    { registry: 'a.example.com', hasRegistryTokens: true },
  ],
  ['none any more', { ...NONE, registry: '-' }, HAD, {}],
] as const)('%s', (_, input, settings, wanted) => {
  const { kept, ...registry } = wantedRegistry(input, settings)
  expect(registry).toEqual(wanted)
  expect(Object.keys(kept)).toEqual('sleepHours' in settings ? ['sleepHours'] : [])
})

test('tokens without a registry are refused', () => {
  for (const registry of [undefined, '-'])
    expect(() => wantedRegistry({ registry, registryTokens: true }, {})).toThrow('`--registry-tokens` needs a registry')
})
