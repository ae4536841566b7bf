import { describe, expect, test } from 'vitest'
import { findCycles } from '../../../../compiler/plan/order/cycles.ts'
import { planOf } from '../../../support/plan/compose.ts'
import { span } from '../../../support/plan/project.ts'

const image = 'busybox:1.37'
/** The highest int32: a startup probe with this threshold does not stop its container. */
const NEVER = 2147483647

const waits = (web: string, others: string, options = {}) =>
  planOf(`services:\n  web: {image: w, depends_on: ${web}}\n  ${others}`, options)

describe('service_healthy', () => {
  test.each([
    ['a port through the Service', 'db: {image: i, expose: ["5432"]}', { kind: 'port', ports: [5432] }],
    ['one of several ports', 'db: {image: i, ports: ["9000", "80"]}', { kind: 'port', ports: [9000, 80] }],
    ['not that of a debugger', 'db: {image: i, ports: ["9229", "80"]}', { kind: 'port', ports: [80] }],
    ['a debugger when there is nothing else', 'db: {image: i, expose: ["9229"]}', { kind: 'port', ports: [9229] }],
    [
      'the port of the healthcheck',
      'db: {image: i, ports: ["80"], healthcheck: {http: {path: /, port: 81}}}',
      { kind: 'port', ports: [81] },
    ],
    ['a name without ports', 'db: {image: i}', { kind: 'name' }],
    ['a name of dnsrr', 'db: {image: i, expose: ["80"], deploy: {endpoint_mode: dnsrr}}', { kind: 'name' }],
  ])('a wait checks a port or the name of the service: %s', (_, other, wait) => {
    expect(waits('{db: {condition: service_healthy}}', other).pod('web').waits).toEqual([
      { service: 'db', host: 'db', image, ...wait },
    ])
  })

  test('a wait for a service with UDP ports only is left out with a warning', () => {
    const { pod, codes } = waits('{dns: {condition: service_healthy}}', 'dns: {image: i, expose: ["53/udp"]}')
    expect(pod('web').waits).toEqual([])
    expect(codes).toEqual(['depends-on/no-tcp-port'])
  })

  test('a wait for a Job that is not a server is an error', () => {
    expect(waits('{job: {condition: service_healthy}}', 'job: {image: i, restart: "no"}').codes).toEqual([
      'depends-on/healthy-job',
    ])
  })

  test('the image of waits can be set', () => {
    const { pod } = waits('{db: {condition: service_healthy}}', 'db: {image: i}', { shellImage: 'r/sh:1' })
    expect(pod('web').waits[0]!.image).toBe('r/sh:1')
  })
})

describe('services with zero replicas', () => {
  const other = { service_healthy: 'expose: ["80"]', service_completed_successfully: 'restart: "no"' }

  test.each(
    (['scale: 0', 'deploy: {replicas: 0}', 'scale: 0, deploy: {replicas: 0}', 'scale: "0"'] as const).flatMap(scale =>
      (['service_healthy', 'service_completed_successfully'] as const).flatMap(condition =>
        (['manifest', 'client'] as const).map(startOrder => [scale, condition, startOrder] as const),
      ),
    ),
  )('a service with %s is not waited for: %s, in %s order', (scale, condition, startOrder) => {
    const keys = `image: i, ${other[condition]}, ${scale}`
    const { pod, plan, codes, diagnostics } = waits(`{db: {condition: ${condition}}}`, `db: {${keys}}`, { startOrder })
    expect(pod('web').waits).toEqual([])
    expect(plan.workloads.find(({ name }) => name === 'web')?.dependencies).toEqual([
      { service: 'db', condition: 'service_started' },
    ])
    expect(codes).toEqual([])
    expect(diagnostics.map(({ code }) => code)).toContain('depends-on/no-replicas')
  })

  test.each([
    ['that never completes', 'service_completed_successfully', 'db: {image: i, scale: 0}\n  x: {image: i}', []],
    ['with restart: always', 'service_completed_successfully', 'db: {image: i, restart: always, scale: 0}', []],
    ['that is a Job without ports', 'service_healthy', 'db: {image: i, restart: "no", scale: 0}', []],
    ['with UDP ports only', 'service_healthy', 'db: {image: i, expose: ["53/udp"], scale: 0}', []],
    [
      'in the Pod of one without containers',
      'service_healthy',
      'db: {image: i, network_mode: "service:net"}\n  net: {image: i, scale: 0}',
      [],
    ],
    [
      'in the Pod of another one',
      'service_healthy',
      'db: {image: i, network_mode: "service:net", scale: 0}\n  net: {image: i}',
      ['kind/mode-in-group'],
    ],
  ])('a service with zero replicas is not waited for: one %s', (_, condition, others, more) => {
    const { pod, codes } = waits(`{db: {condition: ${condition}}}`, others)
    expect(pod('web').waits).toEqual([])
    expect(codes).toEqual(more)
  })

  test.each(['manifest', 'client'] as const)(
    'a service on every node is waited for, because it ignores the number of replicas, in %s order',
    startOrder => {
      const db = 'db: {image: i, expose: ["80"], healthcheck: {test: x}, deploy: {mode: global, replicas: 0}}'
      const { plan, container, diagnostics } = waits('{db: {condition: service_healthy}}', db, { startOrder })
      const web = plan.workloads.find(({ name }) => name === 'web')
      expect(web?.dependencies).toEqual([{ service: 'db', condition: 'service_healthy' }])
      expect(web?.pod.waits).toHaveLength(startOrder === 'manifest' ? 1 : 0)
      expect(diagnostics.map(({ code }) => code)).not.toContain('depends-on/no-replicas')
      expect(container('db').readinessProbe).toBeDefined()
    },
  )

  test('a wait for completion is allowed in a Pod with zero replicas', () => {
    const { pod, codes } = planOf(`services:
  net: {image: i, scale: 0}
  web: {image: i, network_mode: "service:net", depends_on: {db: {condition: service_completed_successfully}}}
  db: {image: i, network_mode: "service:net"}`)
    expect(pod('net').containers.map(({ name }) => name)).toEqual(['net', 'db', 'web'])
    expect(codes).toEqual([])
  })

  test('a service with zero replicas does not wait itself', () => {
    const { plan } = waits(
      '{proxy: {condition: service_healthy}}',
      'proxy: {image: i, scale: 0, depends_on: {db: {condition: service_healthy}}}\n  db: {image: i}',
      { startOrder: 'client' },
    )
    expect(plan.workloads.find(({ name }) => name === 'proxy')?.dependencies).toEqual([
      { service: 'db', condition: 'service_started' },
    ])
  })

  test('a dependency on zero replicas without a condition is not reported', () => {
    expect(waits('[db]', 'db: {image: i, scale: 0}').codes).toEqual([])
  })
})

describe('network_mode: none', () => {
  test.each([
    ['for a port', 'service_healthy', 'i, expose: ["80"]'],
    ['for a name', 'service_healthy', 'i'],
    ['for a Job', 'service_completed_successfully', 'i, restart: "no"'],
  ])('a Pod without a network waits for nothing, because it reaches nothing: %s', (_, condition, db) => {
    for (const startOrder of ['manifest', 'client'] as const) {
      const { pod, plan } = planOf(
        `services:
  worker: {image: w, network_mode: none, depends_on: {db: {condition: ${condition}}}}
  db: {image: ${db}}`,
        { startOrder },
      )
      expect(pod('worker').waits).toEqual([])
      expect(plan.workloads.find(({ name }) => name === 'worker')?.dependencies).toEqual([{ service: 'db', condition }])
    }
  })

  test('a Pod does not wait for the port of a Pod without a network, which nothing reaches', () => {
    for (const startOrder of ['manifest', 'client'] as const) {
      const other = 'db: {image: i, network_mode: none, expose: ["80"]}'
      expect(waits('{db: {condition: service_healthy}}', other, { startOrder }).pod('web').waits).toEqual([])
    }
  })
})

test('service_started adds no wait', () => {
  expect(waits('[db]', 'db: {image: i}').pod('web').waits).toEqual([])
})

test('a wait for the completion of a service that never ends is an error with the reason', () => {
  const { codes, diagnostics } = waits(
    '{db: {condition: service_completed_successfully}}',
    'db: {image: i, restart: always, volumes: [/d]}',
  )
  expect(codes).toEqual(['depends-on/not-a-job'])
  expect(diagnostics[0]!.related![0]!.message).toBe('the restart policy is here')
})

test('waits are sorted', () => {
  const { pod } = waits(
    '{z: {condition: service_healthy}, a: {condition: service_healthy}}',
    'a: {image: i}\n  z: {image: i}',
  )
  expect(pod('web').waits.map(({ service }) => service)).toEqual(['a', 'z'])
})

test('a dependency on an inactive service is skipped', () => {
  const { codes, pod } = waits(
    '{db: {condition: service_healthy, required: false}}',
    'db: {image: i, profiles: [other]}',
  )
  expect(codes).toEqual([])
  expect(pod('web').waits).toEqual([])
})

describe('groups', () => {
  const vpn = (follower: string, lead = '') =>
    planOf(`
services:
  vpn: {image: v, ports: ["8080:8080"]${lead}}
  app: {image: a, network_mode: "service:vpn"${follower}}
  db: {image: d, expose: ["5432"]}
`)

  test('a group is one Pod of the lead; all names select it, with the ports of all members', () => {
    const { plan, pod, ports } = vpn(', expose: ["9000"]')
    expect(plan.workloads.map(({ name }) => name)).toEqual(['db', 'vpn'])
    expect(pod('vpn')).toMatchObject({ services: ['vpn', 'app'], containers: [{ name: 'vpn' }, { name: 'app' }] })
    for (const name of ['app', 'vpn']) {
      expect(plan.services.find(one => one.name === name)!.selects).toEqual({ service: 'vpn' })
      expect(ports(name)).toEqual(['tcp-8080 8080→8080', 'tcp-9000 9000→9000'])
    }
  })

  test('a group has the waits of all members', () => {
    expect(vpn(', depends_on: {db: {condition: service_healthy}}').pod('vpn').waits).toEqual([
      { kind: 'port', service: 'db', host: 'db', ports: [5432], image },
    ])
  })

  test('a wait between members becomes a sidecar with the healthcheck as startup probe', () => {
    const { pod } = vpn(', depends_on: {vpn: {condition: service_healthy}}', ', healthcheck: {test: [CMD, ok]}')
    expect(pod('vpn').waits).toEqual([])
    expect(pod('vpn').containers.map(({ name }) => name)).toEqual(['app'])
    expect(pod('vpn').init).toEqual([
      expect.objectContaining({
        name: 'vpn',
        sidecar: true,
        startupProbe: { check: { kind: 'exec', command: ['ok'] }, timeoutSeconds: 30, failureThreshold: NEVER },
      }),
    ])
  })

  test.each([
    ['retries: 0, start_period: 1m', NEVER],
    ['interval: 1s, retries: 2', NEVER],
    ['start_period: 1m, start_interval: 5s', NEVER],
    ['interval: 1s, retries: 2, x-platform-liveness: true', 2],
    ['start_period: 60s, start_interval: 5s, x-platform-liveness: true', 18],
  ])('only a liveness probe stops a member that starts slowly while others wait for it: %s', (fields, threshold) => {
    const { pod } = vpn(
      ', depends_on: {vpn: {condition: service_healthy}}',
      `, healthcheck: {test: [CMD, ok], ${fields}}`,
    )
    expect(pod('vpn').init[0]!.startupProbe?.failureThreshold).toBe(threshold)
  })

  const inJob = (member: string, migrate = 'restart: "no"') =>
    planOf(`
services:
  migrate: {image: m, ${migrate}}
  proxy: {image: p, network_mode: "service:migrate"${member}}
`)
  const containersOf = ({ pod }: ReturnType<typeof inJob>) => [
    pod('migrate').init.map(({ name, sidecar }) => `${name} ${sidecar}`),
    pod('migrate').containers.map(({ name }) => name),
  ]

  test.each([
    ['has the policy always', ', restart: always'],
    ['has the policy unless-stopped', ', restart: unless-stopped'],
    ['has a port', ', expose: ["80"]'],
    ['has a healthcheck', ', healthcheck: {test: [CMD, ok]}'],
    ['has a command without an end', ', command: sleep infinity'],
    ['has a program without an end', ', entrypoint: [tail, -f], command: [/dev/null]'],
  ])('a member of the Pod of a Job is a sidecar without a startup probe if it %s', (_, keys) => {
    const found = inJob(keys)
    expect(containersOf(found)).toEqual([['proxy true'], ['migrate']])
    expect(found.pod('migrate').init[0]).not.toHaveProperty('startupProbe')
    expect(found.codes).not.toContain('restart/ignored')
  })

  test.each([
    ['may end', '', 'restart: "no"'],
    ['has the policy no', ', restart: "no", expose: ["80"]', 'restart: "no"'],
    ['waits for the Job', ', restart: always, depends_on: {migrate: {condition: service_healthy}}', 'restart: "no"'],
    ['is in the Pod of a server', ', restart: always', 'restart: always'],
  ])('a member is no sidecar if it %s', (_, member, migrate) => {
    const [init = [], containers = []] = containersOf(inJob(member, migrate))
    expect(init).not.toContain('proxy true')
    expect(containers).toContain('proxy')
  })

  test('a sidecar of a Job that another service waits for starts after the sidecars that it waits for', () => {
    const { pod } = planOf(`
services:
  app: {image: a, depends_on: {migrate: {condition: service_completed_successfully}}}
  migrate: {image: m}
  a: {image: a, network_mode: "service:migrate", restart: always, depends_on: {z: {condition: service_healthy}}}
  z: {image: z, network_mode: "service:migrate", restart: always, healthcheck: {test: [CMD, ok]}}
`)
    expect(pod('migrate').init.map(({ name, startupProbe }) => [name, startupProbe !== undefined])).toEqual([
      ['z', true],
      ['a', false],
    ])
    expect(pod('migrate').containers.map(({ name }) => name)).toEqual(['migrate'])
  })

  test('a sidecar of a Job that starts slowly is not stopped early', () => {
    const check = 'test: [CMD, ok], start_period: 60s, start_interval: 5s, x-platform-liveness: true'
    const [proxy] = inJob(`, healthcheck: {${check}}`).pod('migrate').init
    expect(proxy).not.toHaveProperty('startupProbe')
    expect(proxy!.livenessProbe!.initialDelaySeconds).toBe(90)
  })

  test('the startup probe of a member without a healthcheck is a connection', () => {
    const { pod } = vpn(', depends_on: {vpn: {condition: service_healthy}}')
    expect(pod('vpn').init[0]!.startupProbe).toEqual({
      check: { kind: 'tcp', port: 8080 },
      periodSeconds: 2,
      failureThreshold: 150,
    })
  })

  test('a wait for a member without a port uses the ports of its Pod', () => {
    const { pod, codes } = planOf(`
services:
  vpn: {image: v, ports: [8000]}
  app: {image: a, network_mode: "service:vpn"}
  user: {image: u, depends_on: {app: {condition: service_healthy}}}
`)
    expect(codes).toEqual([])
    expect(pod('user').waits).toEqual([{ kind: 'port', service: 'app', host: 'app', ports: [8000], image }])
  })

  test('waiting for completion inside a group is an error', () => {
    expect(vpn(', depends_on: {vpn: {condition: service_completed_successfully}}').codes).toContain(
      'depends-on/completion-in-group',
    )
  })

  test('a cycle that grouping creates is an error', () => {
    const { codes, diagnostics } = planOf(`
services:
  a: {image: a}
  b: {image: b, network_mode: "service:a", depends_on: [x]}
  x: {image: x, depends_on: [a]}
`)
    expect(codes).toEqual(['groups/cycle'])
    expect(diagnostics[0]!.message).toContain('`a` → `x` → `a`')
  })

  test('container: joins the service of that container name', () => {
    const { pod, codes } = planOf(`
services: {a: {image: a, container_name: box}, b: {image: b, pid: "container:box"}, c: {image: c, ipc: "container:none"}}
`)
    expect(pod('a')).toMatchObject({ services: ['a', 'b'], shareProcessNamespace: true })
    expect(codes).toEqual(['groups/unknown-target'])
  })

  test('a cycle of shared namespaces over container names is an error', () => {
    const { codes } = planOf(`
services:
  a: {image: a, container_name: box-a, network_mode: "container:box-b"}
  b: {image: b, container_name: box-b, pid: "container:box-a"}
`)
    expect(codes).toEqual(['groups/circular'])
  })

  test('settings of the Pod must be equal for all members', () => {
    const codes = (lead: string, follower: string) =>
      planOf(`services: {a: {image: a, ${lead}}, b: {image: b, network_mode: "service:a", ${follower}}}`).codes
    expect(codes('hostname: x', 'hostname: y')).toEqual(['groups/disagree'])
    expect(codes('expose: ["80"]', 'expose: ["80"]')).toEqual(['groups/port-twice'])
    expect(codes('restart: always', 'restart: "no"')).toEqual(['restart/ignored'])
    expect(codes('scale: 2', 'scale: 3')).toEqual(['kind/mode-in-group'])
    expect(codes('platform: linux/amd64', 'platform: linux/arm64')).toEqual(['scheduling/contradiction'])
  })
})

describe('findCycles', () => {
  const edges = (text: string) =>
    text.split(' ').map(edge => ({ from: edge.split('>')[0]!, to: edge.split('>')[1]!, span }))
  const found = (text: string) => findCycles(edges(text)).map(cycle => cycle.map(({ from }) => from).join(' '))

  test.each([
    ['a>b b>c', []],
    ['a>b b>a', ['a b']],
    ['c>a a>b b>c', ['a b c']],
    ['a>a', ['a']],
    ['a>b b>a c>d d>c', ['a b', 'c d']],
    ['x>a a>b b>a', ['a b']],
    ['a>b a>c b>d c>d', []],
  ])('findCycles finds the cycles of %s', (text, cycles) => expect(found(text)).toEqual(cycles))

  test('a long chain does not exhaust the stack', () => {
    const chain = Array.from({ length: 50_000 }, (_, at) => ({ from: `n${at}`, to: `n${at + 1}`, span }))
    expect(findCycles(chain)).toEqual([])
  })
})
