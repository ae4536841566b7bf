import { describe, expect, test } from 'vitest'
import type { ContainerPlan, PodPlan } from '../../../compiler/plan/plan.ts'
import { toContainer } from '../../../constructs/pod/container.ts'
import { escapeDollars } from '../../../constructs/pod/escape-dollars.ts'
import { podTemplateJson } from '../../../constructs/pod/newer-fields.ts'
import { toPodSpec } from '../../../constructs/pod/pod-spec.ts'
import { containerOf, podOf } from '../../support/constructs/plans.ts'

const identity = { environment: { 'dev.platform/environment': 'shop' }, workload: { 'dev.platform/service': 'web' } }

/** The specification of a Pod as Kubernetes is given it. */
function spec(pod: Partial<PodPlan>) {
  const context = {
    identity,
    labels: {},
    jobName: (service: string) => `${service}-1a2b`,
    waiterAccount: 'shop-web-waits',
  }
  const json = podTemplateJson({ metadata: {}, spec: toPodSpec(podOf(pod), context) })
  return json['spec'] as Record<string, unknown>
}

function container(parts: Partial<ContainerPlan>) {
  return spec({ containers: [containerOf(parts)] })['containers'] as Record<string, unknown>[]
}

/**
 * Expands a text as Kubernetes does: our own implementation of third_party/forked/golang/expansion in
 * https://github.com/kubernetes/kubernetes.
 */
function expand(text: string, variables: Record<string, string>): string {
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (whole, name?: string) =>
    name === undefined ? '$' : (variables[name] ?? whole),
  )
}

describe('dollars', () => {
  test.each([
    ['$USER', '$USER'],
    ['$(HOSTNAME)', '$$(HOSTNAME)'],
    ['$$', '$$$'],
    ['$$$$', '$$$$$$$'],
    ['$$(A)', '$$$$(A)'],
    ['${A}', '${A}'],
    ['a$', 'a$'],
    ['$ (A)', '$ (A)'],
    ['no dollar', 'no dollar'],
  ])('%s is written %s, and arrives as it was', (text, escaped) => {
    expect(escapeDollars(text)).toBe(escaped)
    expect(expand(escaped, { A: 'x', HOSTNAME: 'y' })).toBe(text)
  })

  test('dollars arrive unchanged, whatever surrounds them', () => {
    const parts = ['$', '(', ')', 'A', '{']
    for (let n = 0; n < parts.length ** 5; n++) {
      const text = [0, 1, 2, 3, 4].map(i => parts[Math.floor(n / parts.length ** i) % parts.length]).join('')
      expect(expand(escapeDollars(text), { A: 'x', '': 'y' })).toBe(text)
    }
  })

  test('dollars are escaped in command, args, env and exec probes, but not in hooks', () => {
    const word = '$(A)'
    const probe = { check: { kind: 'exec', command: [word] } } as const
    const [made] = container({
      command: [word],
      args: [word],
      env: [{ name: 'V', value: word }],
      readinessProbe: probe,
      livenessProbe: probe,
      startupProbe: probe,
      postStart: [word],
      preStop: [word],
    })
    const escaped = { exec: { command: ['$$(A)'] } }
    expect(made).toMatchObject({
      command: ['$$(A)'],
      args: ['$$(A)'],
      env: [{ name: 'V', value: '$$(A)' }],
      readinessProbe: escaped,
      livenessProbe: escaped,
      startupProbe: escaped,
      lifecycle: { postStart: { exec: { command: [word] } }, preStop: { exec: { command: [word] } } },
    })
  })
})

test('a container has only the fields that it was given', () => {
  expect(
    container({ command: [], args: [], security: {}, resources: { limits: {} }, stdin: false, tty: false }),
  ).toEqual([{ name: 'web', image: 'nginx:1.27', imagePullPolicy: 'IfNotPresent' }])
})

test('a Pod has only the fields that it was given, and default settings', () => {
  const { containers, ...rest } = spec({ nodeSelector: {}, colocate: [], dns: undefined, hostAliases: [], sysctls: [] })
  expect(containers).toHaveLength(1)
  expect(rest).toEqual({
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
    serviceAccountName: 'default',
    terminationGracePeriodSeconds: 10,
  })
})

test('numbers and quantities survive the typed classes', () => {
  const [made] = container({
    ports: [{ name: 'udp-53', port: 53, protocol: 'UDP', hostPort: 5353 }],
    readinessProbe: { check: { kind: 'http', path: '/', port: 8080 } },
    livenessProbe: { check: { kind: 'tcp', port: 8081 }, timeoutSeconds: 30 },
    resources: { requests: { cpu: '0.5' }, limits: { cpu: '1', memory: '128Mi' } },
  })
  expect(made).toMatchObject({
    ports: [{ name: 'udp-53', containerPort: 53, protocol: 'UDP', hostPort: 5353 }],
    readinessProbe: { httpGet: { path: '/', port: 8080 } },
    livenessProbe: { tcpSocket: { port: 8081 }, timeoutSeconds: 30 },
    resources: { requests: { cpu: '0.5' }, limits: { cpu: '1', memory: '128Mi' } },
  })
})

describe('init containers', () => {
  const busybox = 'busybox:1.37'
  const fill = {
    volume: 'data',
    directory: 'data',
    path: '/data',
    image: 'app',
    imagePullPolicy: 'Always',
    toolsImage: busybox,
    rootless: false,
  } as const
  const inits = (pod: Partial<PodPlan>) => (spec(pod)['initContainers'] as { name: string }[]).map(({ name }) => name)

  test('the init containers are tools, waits, fills and those of the plan, in this order', () => {
    const names = inits({
      waits: [
        { kind: 'port', service: 'api', host: 'api', ports: [80], image: busybox },
        { kind: 'job', service: 'migrate', image: 'kubectl', toolsImage: busybox },
      ],
      fills: [fill],
      init: [containerOf({ name: 'hook' }), { ...containerOf({ name: 'cache' }), sidecar: true }],
    })
    expect(names).toEqual(['tools', 'wait-for-api', 'wait-for-migrate', 'fill-data', 'hook', 'cache'])
  })

  test('a sidecar always restarts, and a hook does not', () => {
    const { initContainers } = spec({
      init: [containerOf({ name: 'hook' }), { ...containerOf({ name: 'c' }), sidecar: true }],
    })
    expect(initContainers).toEqual([
      { name: 'hook', image: 'nginx:1.27', imagePullPolicy: 'IfNotPresent' },
      { name: 'c', image: 'nginx:1.27', imagePullPolicy: 'IfNotPresent', restartPolicy: 'Always' },
    ])
  })

  test('names of containers of the application are not used for init containers', () => {
    const names = inits({
      containers: [containerOf({ name: 'tools' }), containerOf({ name: 'wait-for-api' })],
      waits: [{ kind: 'port', service: 'api', host: 'api', ports: [80], image: busybox }],
      fills: [fill, { ...fill, directory: 'more' }],
      volumes: [{ kind: 'empty', name: 'tools' }],
    })
    expect(names).toEqual(['tools-2', 'wait-for-api-2', 'fill-data', 'fill-data-2'])
  })

  test('names have at most 63 characters, and long names stay distinct', () => {
    const service = 'x'.repeat(62)
    const wait = (end: string) =>
      ({ kind: 'name', service: service + end, host: service + end, image: busybox }) as const
    const names = inits({ waits: [wait('a'), wait('b')] })
    expect(new Set(names).size).toBe(2)
    for (const name of names) expect(name).toMatch(/^wait-for-x+-[0-9a-f]{8}$/)
    for (const name of names) expect(name.length).toBeLessThanOrEqual(63)
  })

  test('only a wait for a Job has an account, and only its container has the token', () => {
    const port = { kind: 'port', service: 'api', host: 'api', ports: [80], image: busybox } as const
    expect(spec({ waits: [port] })['serviceAccountName']).toBe('default')
    const pod = spec({ waits: [port, { kind: 'job', service: 'migrate', image: 'kubectl', toolsImage: busybox }] })
    expect(pod['serviceAccountName']).toBe('shop-web-waits')
    const holders = (pod['initContainers'] as ContainerPlan[]).filter(one => JSON.stringify(one).includes('wait-token'))
    expect(holders.map(({ name }) => name)).toEqual(['wait-for-migrate'])
    expect(JSON.stringify(pod['containers'])).not.toContain('wait-token')
  })

  test('init containers do not run as root in a Pod that may not run as root', () => {
    const { initContainers } = spec({
      runAsNonRoot: true,
      fills: [{ ...fill, rootless: true }],
      waits: [{ kind: 'name', service: 'db', host: 'db', image: busybox }],
    })
    const restricted = { runAsUser: 65534, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
    for (const one of initContainers as object[]) expect(one).toMatchObject({ securityContext: restricted })
  })
})

test('fields that are newer than the typed classes are kept', () => {
  const pod = spec({
    containers: [
      containerOf({
        security: { appArmorProfile: { type: 'Unconfined' } },
        mounts: [
          { volume: 'a', path: '/a', readOnly: true },
          { volume: 'b', path: '/b', readOnly: true, recursiveReadOnly: true },
        ],
      }),
    ],
    volumes: [
      { kind: 'empty', name: 'a' },
      { kind: 'image', name: 'b', reference: 'example.com/model:1' },
    ],
  })
  expect(pod).toMatchObject({
    containers: [
      {
        securityContext: { appArmorProfile: { type: 'Unconfined' } },
        volumeMounts: [{ name: 'a' }, { name: 'b', recursiveReadOnly: 'Enabled' }],
      },
    ],
    volumes: [
      { name: 'a', emptyDir: {} },
      { name: 'b', image: { reference: 'example.com/model:1' } },
    ],
  })
})

test('a plan that is read-only is not changed, and its lists are not shared', () => {
  const command = Object.freeze(['a'])
  const plan = Object.freeze(containerOf({ command, postStart: command }))
  expect(toContainer(plan).lifecycle?.postStart?.exec?.command).not.toBe(command)
})
