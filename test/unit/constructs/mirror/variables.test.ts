import { describe, expect, test } from 'vitest'
import { mirror } from '../../../../constructs/mirror/mirror.ts'
import { SESSION_ANNOTATION } from '../../../../constructs/mirror/names.ts'
import type { LiveObject, MirrorObjects } from '../../../../constructs/mirror/settings.ts'
import { facts, settings } from '../../../support/mirror/settings.ts'

// More users may read a Deployment than a Secret: on a platform, every viewer of the namespace.

type Variables = Readonly<Record<string, string>>

const live = (name: string): LiveObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    template: { spec: { containers: [{ name, image: 'app', env: [{ name: 'TOKEN', value: 'the deployed one' }] }] } },
  },
})

const { services: _, ...beside } = settings({ name: 'worker' })

const made = (own: Variables, others: Variables = {}, mode: 'sync' | 'hybrid' = 'sync'): MirrorObjects => {
  const listOf = (variables: Variables) => Object.entries(variables).map(([name, value]) => ({ name, value }))
  const services = [{ ...beside, environment: listOf(others) }]
  return mirror(
    live('api'),
    settings({ mode, environment: listOf(own), services }),
    facts({ services: [live('worker')] }),
  )
}

interface Variable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } }
}

interface Workload {
  readonly template: {
    readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
    readonly spec: { readonly containers: readonly { readonly name: string; readonly env?: readonly Variable[] }[] }
  }
}

/** Returns the variables that a container gets, with the values that come from the Secret. */
function variablesOf({ secret, workload, services }: MirrorObjects, name: string): Variables {
  const data = secret['data'] as Variables
  const { template } = (name === 'api' ? workload : services[0]!)['spec'] as Workload
  const { env = [] } = template.spec.containers.find(one => one.name === name)!
  const textOf = ({ value = '', valueFrom }: Variable) => {
    if (!valueFrom) return value
    expect(valueFrom.secretKeyRef.name).toBe(secret.metadata.name)
    return Buffer.from(data[valueFrom.secretKeyRef.key]!, 'base64').toString()
  }
  return Object.fromEntries(env.map(one => [one.name, textOf(one)]))
}

const hashesOf = ({ workload, services }: MirrorObjects) =>
  [workload, ...services].map(one => (one['spec'] as Workload).template.metadata.annotations?.[SESSION_ANNOTATION])

describe('the variables of a development container', () => {
  test.each(['sync', 'hybrid'] as const)('the variables are in the Secret of the session, in mode %s', mode => {
    const objects = made({ TOKEN: 'of api: $(HOME) ü', EMPTY: '' }, { TOKEN: 'of worker' }, mode)
    expect(variablesOf(objects, 'api')).toEqual({ TOKEN: 'of api: $(HOME) ü', EMPTY: '' })
    expect(variablesOf(objects, 'worker')).toEqual({ TOKEN: 'of worker' })
    expect(JSON.stringify([objects.workload, ...objects.services])).not.toMatch(/of api|of worker|the deployed one/)
  })

  test('the variables may have names that are not keys of a Secret', () => {
    const names = { 'a/b': '1', 'a b': '2', 'a:b': '3', [`A${'B'.repeat(300)}`]: '4', [`A${'B'.repeat(301)}`]: '5' }
    const objects = made(names)
    expect(variablesOf(objects, 'api')).toEqual({ TOKEN: 'the deployed one', ...names })
    for (const key of Object.keys(objects.secret['data'] as Variables)) expect(key).toMatch(/^[-._a-zA-Z0-9]{1,253}$/)
  })

  test('a changed value restarts the Pods that have it, and no others', () => {
    const [own, other] = hashesOf(made({ A: '1' }, { B: '1' }))
    expect(hashesOf(made({ A: '1' }, { B: '1' }))).toEqual([own, other])
    expect(hashesOf(made({ A: '1' }, { B: '2' }))).toEqual([own, expect.not.stringMatching(other!)])
    expect(hashesOf(made({ A: '2' }, { B: '1' }))).toEqual([expect.not.stringMatching(own!), other])
    // Pods beside the container have no hash of the Secret if they have no variables.
    expect(hashesOf(made({ A: '1' }))).toEqual([own, undefined])
  })
})
