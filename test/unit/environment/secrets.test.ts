import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { Plan } from '../../../compiler/plan/plan.ts'
import { differencesOf } from '../../../environment/plan/comparison.ts'
import { diffOf, valueDiffs } from '../../../environment/plan/diff.ts'
import { keepsItself } from '../../../environment/plan/prune-rules.ts'
import { recordName } from '../../../environment/record/record.ts'
import { deleteKept, markSecrets, newKey, readKept, writeKept } from '../../../environment/record/secret-marks.ts'
import { deploy, ENVIRONMENT, NAMESPACE, newCluster, object, plan, wanted } from '../../support/objects/deploying.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

/** Returns a plan with only the parts that marks read. */
function planWith(
  secrets: Readonly<Record<string, Readonly<Record<string, string>>>>,
  mounted: readonly string[],
  variables: readonly string[] = [],
): Plan {
  const env = variables.map(name => ({ name: 'TOKEN', secret: { name, key: 'a' } }))
  const volumes = mounted.map(secret => ({ kind: 'secret', name: secret, secret }))
  return {
    secrets: Object.entries(secrets).map(([name, files]) => ({
      name,
      data: Object.fromEntries(Object.entries(files).map(([file, text]) => [file, bytes(text)])),
    })),
    workloads: [{ service: 'web', pod: { volumes, containers: [{ env }], init: [], annotations: { mine: 'yes' } } }],
  } as unknown as Plan
}

const marksOf = (of: Plan, key = 'key') => markSecrets(of, key).workloads[0]?.pod.annotations?.['dev.platform/secrets']

describe('the mark of the secrets that a Pod mounts', () => {
  const one = { token: { a: '1' } }
  const mark = marksOf(planWith(one, ['token']))

  test('the mark exists only for Pods that use secrets, and keeps other annotations', () => {
    expect(mark).toMatch(/^[0-9a-f]{16}$/)
    expect(marksOf(planWith(one, []))).toBeUndefined()
    expect(marksOf(planWith(one, ['external']))).toBeUndefined()
    expect(marksOf(planWith(one, [], ['external']))).toBeUndefined()
    expect(marksOf(planWith(one, [], ['token']))).toBe(mark)
    expect(markSecrets(planWith(one, ['token']), 'key').workloads[0]?.pod.annotations).toMatchObject({ mine: 'yes' })
  })

  test.each([
    ['another value', planWith({ token: { a: '2' } }, ['token']), 'key'],
    ['another file', planWith({ token: { b: '1' } }, ['token']), 'key'],
    ['another name', planWith({ other: { a: '1' } }, ['other']), 'key'],
    ['another key', planWith(one, ['token']), 'another key'],
    ['one more', planWith({ ...one, more: { a: '1' } }, ['token', 'more']), 'key'],
  ])('the mark changes with %s', (_, of, key) => {
    expect(marksOf(of, key)).not.toBe(mark)
  })

  test('the mark does not depend on the order or on other secrets', () => {
    const two = { token: { a: '1', b: '2' }, more: { c: '3' } }
    const turned = { more: { c: '3' }, token: { b: '2', a: '1' } }
    expect(marksOf(planWith(turned, ['more', 'token']))).toBe(marksOf(planWith(two, ['token', 'more'])))
    expect(marksOf(planWith({ ...one, others: { a: 'x' } }, ['token']))).toBe(mark)
  })

  test('the key of the mark is random, and is kept in a Secret', async () => {
    const cluster = newCluster()
    expect(await readKept(cluster, ENVIRONMENT, NAMESPACE, {})).toBeUndefined()
    const key = newKey()
    expect(key).toMatch(/^[0-9a-f]{64}$/)
    expect(newKey()).not.toBe(key)
    for (const variables of [{}, { TAG: '1', TEXT: 'a "b"\n' }] as Readonly<Record<string, string>>[]) {
      await writeKept(cluster, ENVIRONMENT, NAMESPACE, { key, variables }, {})
      expect(await readKept(cluster, ENVIRONMENT, NAMESPACE, {})).toEqual({ key, variables })
    }
    cluster.allows = ({ kind }) => kind !== 'Secret'
    await deleteKept(cluster, ENVIRONMENT, NAMESPACE, {})
  })
})

test.each(['no JSON', '[]', 'null', '"a"', '{"A": 1}'])(
  'kept variables that are changed to %s are reported with their Secret',
  async variables => {
    const cluster = newCluster()
    const ref = { apiVersion: 'v1', kind: 'Secret', metadata: { name: recordName(ENVIRONMENT), namespace: NAMESPACE } }
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    await cluster.apply({ ...ref, data: { key: base64('k'), variables: base64(variables) } }, { manager: 'somebody' })
    const failure = await readKept(cluster, ENVIRONMENT, NAMESPACE, {}).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(UserError)
    expect((failure as UserError).message).toContain(`\`${recordName(ENVIRONMENT)}\``)
    expect((failure as UserError).hint).toContain('"/data/variables"')
  },
)

describe('valueDiffs and diffOf', () => {
  const masked = (kind: string, before: object, after: object) => {
    const live = object(kind, 'web', before)
    return valueDiffs(differencesOf(live, object(kind, 'web', after)), live)
  }
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const env = (...variables: readonly object[]) => ({
    spec: { template: { spec: { containers: [{ name: 'web', env: variables }] } } },
  })

  test('the diff of a Secret shows sizes only', () => {
    const shown = masked(
      'Secret',
      { data: { a: base64('hunter2'), gone: base64('x') } },
      { data: { a: base64('hunter22'), more: base64('abc') } },
    )
    expect(shown.map(({ path, masked }) => `${path} ${masked}`)).toEqual([
      'data.a *** (changed, 7 → 8 bytes)',
      'data.gone *** (removed)',
      'data.more *** (new, 3 bytes)',
    ])
    expect(JSON.stringify(shown)).not.toContain(base64('hunter2').slice(0, 6))
  })

  test.each(['DB_PASSWORD', 'API_KEY', 'apikey', 'AUTH', 'my_token', 'AWS_SECRET', 'CREDENTIALS', 'PRIVATE'])(
    'the diff of the variable %s shows no value',
    name => {
      const shown = masked('Deployment', env({ name, value: 'hunter2' }), env({ name, value: 'hunter3' }))
      expect(shown).toMatchObject([{ masked: '*** (changed)' }])
      expect(
        JSON.stringify(masked('Deployment', env({ name: 'A', value: '1' }), env({ name, value: 'hunter2' }))),
      ).not.toContain('hunter')
    },
  )

  test('the diff of other variables shows both values', () => {
    const shown = masked('Deployment', env({ name: 'LEVEL', value: 'a' }), env({ name: 'LEVEL', value: 'b' }))
    expect(shown).toMatchObject([
      { path: 'spec.template.spec.containers[web].env[LEVEL].value', before: 'a', after: 'b' },
    ])
  })

  test('the diff of a new container hides its secret variables', () => {
    const [container] = [
      {
        name: 'more',
        env: [
          { name: 'TOKEN', value: 'hunter2' },
          { name: 'LEVEL', value: 'b' },
        ],
      },
    ]
    const shown = masked('Deployment', env(), {
      spec: { template: { spec: { containers: [{ name: 'web', env: [] }, container] } } },
    })
    expect(JSON.stringify(shown)).toContain('***')
    expect(JSON.stringify(shown)).not.toContain('hunter2')
  })

  test('the diff of the mark explains that Pods are replaced', () => {
    const template = (mark: string) => ({
      spec: { template: { metadata: { annotations: { 'dev.platform/secrets': mark } } } },
    })
    expect(masked('Deployment', template('a'), template('b'))).toMatchObject([
      { masked: 'the Secrets that it mounts have changed: its Pods are replaced' },
    ])
  })

  test('the diff of objects that left the files says what happens to them', async () => {
    const cluster = newCluster()
    const claim = object('PersistentVolumeClaim', 'data', { spec: { resources: {} } })
    await deploy(cluster, wanted([claim, object('ConfigMap', 'old', { data: {} })]))
    expect(diffOf(await plan(cluster, wanted([])))).toEqual([
      expect.objectContaining({
        action: 'delete',
        object: 'configmap/old',
        consequence: expect.stringContaining('removed from the Compose file'),
      }),
      expect.objectContaining({
        action: 'keep',
        object: 'persistentvolumeclaim/data',
        consequence: expect.stringContaining('with its data'),
      }),
    ])
  })
})

test.each([
  ['dev.platform/policy', 'keep', true],
  ['dev.platform/policy', 'keeper', false],
  ['cli-utils.sigs.k8s.io/on-remove', 'keep', true],
  ['client.lifecycle.config.k8s.io/deletion', 'detach', true],
  ['argocd.argoproj.io/sync-options', 'Prune=false', true],
  ['argocd.argoproj.io/sync-options', 'NoPrune=false', false],
  ['kustomize.toolkit.fluxcd.io/prune', 'disabled', true],
  ['helm.sh/resource-policy', 'keep', true],
  ['other', 'keep', false],
])('keepsItself of an object with %s: %s is %s', (name, value, keeps) => {
  const made = object('ConfigMap', 'a')
  const annotated: KubeObject = { ...made, metadata: { ...made.metadata, annotations: { [name]: value } } }
  expect(keepsItself(annotated)).toBe(keeps)
})
