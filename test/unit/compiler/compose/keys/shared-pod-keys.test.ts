import { describe, expect, test } from 'vitest'
import type { Keys } from '../../../../../compiler/compose/keys/key.ts'
import { serviceKeys } from '../../../../../compiler/compose/keys/service.ts'
import type { KubernetesObject } from '../../../../../constructs/manifest.ts'
import { type Rendered, renderedWith, type Sample, saysMore, serviceValue } from './key-samples.ts'

/**
 * Checks two services of one Pod that set different values for a setting of the Pod: each value has an effect, or the
 * difference is reported. A plan that takes the first value that it finds drops the other one silently.
 */
describe('settings of a shared Pod', () => {
  test.each(podKeys())('different values of %s are combined or reported', (key, sample, value) => {
    const other = otherValue(key, sample, value)
    expect(other, `give \`${key}\` a second value in this test`).toBeDefined()
    const both = (first: unknown, second: unknown) =>
      renderedWith(sample, sharing(key, { [key]: first }, { [key]: second }))
    for (const [same, mixed] of [
      [both(value, value), both(value, other)],
      [both(value, value), both(other, value)],
    ] as const)
      expect(
        podOf(same) !== podOf(mixed) || saysMore(mixed, same),
        `two services of one Pod differ in \`${key}\`, and one value is dropped silently: read it with \`agreed\` in plan/pod/pod-settings.ts`,
      ).toBe(true)
  })
})

/** Second values of keys for which none can be derived from the first. */
const SECOND: Readonly<Record<string, unknown>> = {
  dns: ['10.0.0.11'],
  platform: 'linux/amd64',
  extra_hosts: { 'example.test': '10.0.0.12' },
  stop_grace_period: '35s',
}

/** The keys that change the Pod of a service outside its containers and volumes, with the value of a sample. */
function podKeys(): readonly (readonly [key: string, sample: Sample, value: unknown])[] {
  const mapped = Object.entries(serviceKeys as Keys).filter(([, { fate }]) => fate === 'mapped')
  return mapped.flatMap(([key]) => {
    const found = serviceValue(key)
    // A flag holds for the Pod if one of its services sets it.
    if (!found || typeof found.value === 'boolean') return []
    const { sample, value } = found
    const [plain, set] = [{}, { [key]: value }].map(own => renderedWith(sample, sharing(key, own, {})))
    const changes = set!.errors.length === 0 && podOf(plain!) !== podOf(set!)
    return changes ? [[key, sample, value] as const] : []
  })
}

/** A value that is valid and changes the Pod in another way. */
function otherValue(key: string, sample: Sample, value: unknown): unknown {
  const alone = (one: unknown) => renderedWith(sample, sharing(key, { [key]: one }, {}))
  const other = SECOND[key] ?? varied(value)
  const changed = alone(other)
  return changed.errors.length === 0 && podOf(changed) !== podOf(alone(value)) ? other : undefined
}

function varied(value: unknown): unknown {
  if (typeof value === 'string') return `${value}-2`
  if (typeof value === 'number') return value + 1
  if (Array.isArray(value)) return value.map(varied)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, varied(one)]))
}

type Service = Readonly<Record<string, unknown>>

/** Two services of one Pod. */
function sharing(key: string, first: Service, second: Service): Readonly<Record<string, Service>> {
  const shared = key === 'pid' ? 'ipc' : 'pid'
  return {
    first: { image: 'nginx:1', ...first },
    second: { image: 'nginx:1', [shared]: 'service:first', ...second },
  }
}

/** The Pod of `first` without its containers and volumes, as JSON. */
function podOf({ objects }: Rendered): string | undefined {
  // `rendered` writes `objects` as JSON.
  const found = (JSON.parse(objects ?? '[]') as KubernetesObject[]).find(
    ({ metadata, spec }) => /(^|-)first$/.test(metadata.name) && (spec as { template?: unknown } | undefined)?.template,
  )
  const { template } = (found?.['spec'] ?? {}) as { readonly template?: { readonly spec: Service } }
  if (!template) return undefined
  const { containers, initContainers, volumes, ...pod } = template.spec
  return JSON.stringify(pod)
}
