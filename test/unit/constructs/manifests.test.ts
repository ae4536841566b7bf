import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { JobPlan, Plan, WorkloadPlan } from '../../../compiler/plan/plan.ts'
import { toManifests } from '../../../constructs/index.ts'
import { printStream } from '../../../constructs/yaml.ts'
import { everything } from '../../support/constructs/everything.ts'
import { containerOf, deploymentOf, guestbook, object, planOf, podOf } from '../../support/constructs/plans.ts'
import { expectFile } from '../../support/written-file.ts'

const expected = (name: string) => join(import.meta.dirname, 'expected', name)

test('the manifests of an application equal the expected file', async () => {
  await expectFile(printStream(toManifests(guestbook)), expected('guestbook.yaml'))
})

test('the manifests of a plan with every field equal the expected file', async () => {
  await expectFile(printStream(toManifests(everything)), expected('everything.yaml'))
})

describe('reproducible output', () => {
  afterEach(() => {
    delete process.env['CDK8S_DISABLE_SORT']
  })

  test('the output is the same twice, and with other settings of cdk8s in the environment', () => {
    const once = printStream(toManifests(everything))
    expect(printStream(toManifests(everything))).toBe(once)
    process.env['CDK8S_DISABLE_SORT'] = '1'
    expect(printStream(toManifests(everything))).toBe(once)
  })
})

test('referenced objects come first, and a folder is a service or what services share', () => {
  const listed = toManifests(guestbook).map(({ folder, object }) => `${folder}: ${object.kind} ${object.metadata.name}`)
  const job = listed.find(line => line.includes('Job'))
  expect(listed).toEqual([
    '_shared: ConfigMap guestbook-site-2c8f1e0a',
    '_shared: PersistentVolumeClaim data',
    'api: ServiceAccount guestbook-waits-for-migrate',
    'api: Role guestbook-waits-for-migrate',
    'api: RoleBinding guestbook-waits-for-migrate',
    'api: Service api',
    'cache: Service cache',
    'db: Service db',
    'web: Service web',
    'db: StatefulSet db',
    job,
    'api: Deployment api',
    'web: Deployment web',
    'cache: Deployment cache',
    'web: Ingress web',
  ])
})

test('the manifests have no namespace if the plan has none', () => {
  const plan: Plan = { ...guestbook, environment: { name: 'guestbook' } }
  for (const { object } of toManifests(plan)) expect(object.metadata).not.toHaveProperty('namespace')
})

test('no field is null, undefined or empty, except for empty values with a meaning', () => {
  const found = new Set<string>()
  const walk = (value: unknown, path: string): void => {
    if (value === null || value === undefined) found.add(path)
    else if (typeof value === 'object') {
      const entries = Object.entries(value)
      if (entries.length === 0) found.add(path)
      for (const [key, child] of entries) walk(child, Array.isArray(value) ? path : `${path}.${key}`)
    }
  }
  for (const { object } of [...toManifests(guestbook), ...toManifests(everything)]) walk(object, object.kind)
  expect([...found].sort()).toEqual([
    'Deployment.spec.template.spec.volumes.emptyDir',
    'NetworkPolicy.spec.egress',
    'NetworkPolicy.spec.egress.to.namespaceSelector',
  ])
})

describe('name of a Job', () => {
  const job = (name: string, parts: Partial<JobPlan> = {}): JobPlan => ({
    kind: 'Job',
    ...object(name),
    restartPolicy: 'Never',
    backoffLimit: 0,
    pod: podOf({ services: [name], containers: [containerOf({ name })] }),
    ...parts,
  })
  const waitFor = (service: string) => ({ kind: 'job', service, image: 'kubectl', toolsImage: 'busybox' }) as const
  const names = (...workloads: WorkloadPlan[]) =>
    toManifests(planOf({ workloads }))
      .filter(({ object }) => object.kind === 'Job')
      .map(({ object }) => object.metadata.name)

  test('a change of the template changes the name, and any other change does not', () => {
    const [name] = names(job('migrate'))
    expect(name).toMatch(/^migrate-[0-9a-f]{8}$/)
    expect(names(job('migrate', { backoffLimit: 3, annotations: { a: 'b' }, source: 'other.yaml' }))).toEqual([name])
    const changed = podOf({
      services: ['migrate'],
      containers: [containerOf({ name: 'migrate', image: 'nginx:1.28' })],
    })
    expect(names(job('migrate', { pod: changed }))).not.toEqual([name])
  })

  test('the order of labels and annotations does not change the name', () => {
    const pod = (annotations: Record<string, string>, labels: Record<string, string>) =>
      job('migrate', { pod: podOf({ services: ['migrate'], annotations, labels }) })
    expect(names(pod({ a: '1', b: '2' }, { c: '3', d: '4' }))).toEqual(
      names(pod({ b: '2', a: '1' }, { d: '4', c: '3' })),
    )
  })

  test('a field that is newer than the typed classes changes the name', () => {
    const pod = (level: 'Unconfined' | undefined) =>
      podOf({ containers: [containerOf({ security: level && { appArmorProfile: { type: level } } })] })
    expect(names(job('a', { pod: pod('Unconfined') }))).not.toEqual(names(job('a', { pod: pod(undefined) })))
  })

  test('a long name is cut before the hash', () => {
    const [name] = names(job(`${'a'.repeat(53)}-${'b'.repeat(9)}`))
    expect(name).toMatch(/^a{53}-[0-9a-f]{8}$/)
    expect(name!.length).toBeLessThanOrEqual(63)
  })

  test('a wait uses the name of its Job, and a Job that waits for a changed Job changes too', () => {
    const second = job('second', { pod: podOf({ services: ['second'], waits: [waitFor('first')] }) })
    const user = deploymentOf('user', { waits: [waitFor('second'), waitFor('first')] })
    const manifests = toManifests(planOf({ workloads: [user, second, job('first')] }))
    const [secondName, firstName] = manifests.filter(m => m.object.kind === 'Job').map(m => m.object.metadata.name)
    const role = manifests.find(
      m => m.object.metadata.name === 'shop-waits-for-first.second' && m.object.kind === 'Role',
    )
    expect(role?.object['rules']).toEqual([
      {
        apiGroups: ['batch'],
        resources: ['jobs'],
        resourceNames: [firstName, secondName],
        verbs: ['get', 'list', 'watch'],
      },
    ])
    expect(JSON.stringify(manifests.find(m => m.object.kind === 'Deployment'))).toContain(`job/${secondName}`)

    const changed = job('first', { pod: podOf({ containers: [containerOf({ image: 'other:1' })] }) })
    const [renamed] = names(second, changed)
    expect(renamed).not.toBe(secondName)
  })

  test('a service in the Pod of a Job is waited for by the name of that Job', () => {
    const group = job('lead', { pod: podOf({ services: ['lead', 'follower'] }) })
    const manifests = toManifests(
      planOf({ workloads: [group, deploymentOf('user', { waits: [waitFor('follower')] })] }),
    )
    expect(JSON.stringify(manifests.find(m => m.object.kind === 'Role'))).toMatch(/"lead-[0-9a-f]{8}"/)
  })

  test('a long chain of Jobs gets its names, and a cycle throws an error', () => {
    const chain = Array.from({ length: 1000 }, (_, i) =>
      job(`j${i}`, { pod: podOf({ services: [`j${i}`], waits: i ? [waitFor(`j${i - 1}`)] : [] }) }),
    )
    expect(names(...chain.reverse())).toHaveLength(1000)
    const circle = ['a', 'b'].map(name =>
      job(name, { pod: podOf({ services: [name], waits: [waitFor(name === 'a' ? 'b' : 'a')] }) }),
    )
    expect(() => names(...circle)).toThrow('waits for itself')
  })
})
