import { describe, expect, test } from 'vitest'
import { planOf } from '../../../support/plan/compose.ts'

const one = (fields: string, options = {}) =>
  planOf(`services: {x: {image: "i:1", ${fields.replaceAll('\n', ' ')}}}`, options)

describe('image', () => {
  test.each([
    ['nginx', 'Always'],
    ['nginx:latest', 'Always'],
    ['nginx:1.27', 'IfNotPresent'],
    ['localhost:5000/nginx', 'Always'],
    [`nginx@sha256:${'a'.repeat(64)}`, 'IfNotPresent'],
  ])('%s is pulled %s', (image, policy) => {
    expect(planOf(`services: {x: {image: "${image}"}}`).container('x')).toMatchObject({
      image,
      imagePullPolicy: policy,
    })
  })

  test.each([
    ['always', 'Always', []],
    ['never', 'Never', []],
    ['missing', 'IfNotPresent', []],
    ['build', 'IfNotPresent', []],
    ['daily', 'IfNotPresent', ['image/pull-interval']],
    ['every_12h', 'IfNotPresent', ['image/pull-interval']],
  ])('pull_policy: %s sets the pull policy', (policy, found, reported) => {
    const { container, codes } = one(`pull_policy: ${policy}`)
    expect(container('x').imagePullPolicy).toBe(found)
    expect(codes).toEqual(reported)
  })

  const built = 'services: {My_Web: {build: {context: ., dockerfile_inline: "FROM x"}}}'

  test('the image of a build has the registry, environment, service and a hash of the build input', () => {
    expect(planOf(built).container('my-web').image).toBe('registry.example.com/app-my-web:abcdef012345')
    expect(planOf(built, { tag: 'v1' }).container('my-web').image).toBe('registry.example.com/app-my-web:v1')
    const { container, codes } = planOf(built, { registry: undefined } as never)
    expect(container('my-web').image).toMatch(/^registry\.local\.devctl\//)
    expect(codes).toContain('image/no-registry')
  })

  test('an option overrides the image, by the Compose name of the service', () => {
    expect(planOf(built, { images: new Map([['My_Web', 'r/w:2']]) }).container('my-web').image).toBe('r/w:2')
    expect(one('', { images: new Map([['other', 'r/w:2']]) }).codes).toEqual(['image/unknown-service'])
  })
})

describe('command and entrypoint', () => {
  test.each([
    ['command: a b', { args: ['a', 'b'] }],
    ['entrypoint: [a]', { command: ['a'] }],
    ['entrypoint: [a], command: [b]', { command: ['a'], args: ['b'] }],
    ['entrypoint: [], command: [b, c]', { command: ['b', 'c'] }],
  ])('%s becomes the command and arguments of the container', (fields, found) => {
    const { command, args } = one(fields).container('x')
    expect({ command, args }).toEqual({ command: undefined, args: undefined, ...found })
  })

  test.each(['command: []', 'entrypoint: []'])('%s cannot clear the value of the image', fields => {
    expect(one(fields).codes).toEqual(['command/cleared'])
  })
})

test('environment is sorted and keeps empty values; names that Kubernetes refuses are reported', () => {
  const { container, codes } = one('environment: {b: "", a: "1", "1x": y, "é": z}')
  expect(container('x').env).toEqual([
    { name: '1x', value: 'y' },
    { name: 'a', value: '1' },
    { name: 'b', value: '' },
  ])
  expect(codes).toEqual(['environment/unusual-name', 'environment/bad-name'])
})

test('a hook keeps a variable that it sets itself, although its service takes it from a config or a secret', () => {
  const { pod } = planOf(`
services:
  x:
    image: i
    pre_start: [{command: [m], environment: {MODE: migrate, PGUSER: admin}}]
    x-config-environment: {MODE: mode, OTHER: mode}
    x-secret-environment: {PGUSER: user}
configs: {mode: {content: prod}}
secrets: {user: {external: true}}
`)
  expect(pod('x').init[0]!.env).toEqual([
    { name: 'MODE', value: 'migrate' },
    { name: 'OTHER', config: expect.objectContaining({ key: 'mode' }) },
    { name: 'PGUSER', value: 'admin' },
  ])
})

describe('probes', () => {
  test.each([
    ['test: "a || b"', { kind: 'exec', command: ['/bin/sh', '-c', 'a || b'] }],
    ['test: [CMD-SHELL, "a || b"]', { kind: 'exec', command: ['/bin/sh', '-c', 'a || b'] }],
    ['test: [CMD, a, b]', { kind: 'exec', command: ['a', 'b'] }],
    ['http: {path: /up, port: 80}', { kind: 'http', path: '/up', port: 80 }],
  ])('%s becomes a readiness probe', (field, check) => {
    expect(one(`healthcheck: {${field}}`).container('x').readinessProbe).toEqual({ check, timeoutSeconds: 30 })
  })

  test('durations of a probe are rounded up to seconds and reported', () => {
    const { container, codes } = one(
      'healthcheck: {test: a, start_period: 1m, interval: 500ms, timeout: 1500ms, retries: 4}',
    )
    expect(container('x').readinessProbe).toMatchObject({
      initialDelaySeconds: 60,
      periodSeconds: 1,
      timeoutSeconds: 2,
      failureThreshold: 4,
    })
    expect(codes).toEqual(['duration/rounded', 'duration/rounded'])
  })

  test('the checks of a service with a start interval begin at once', () => {
    const { container, codes } = one(
      'healthcheck: {test: a, start_period: 1m, interval: 7s, retries: 4, start_interval: 1500ms}',
    )
    const { startupProbe, readinessProbe } = container('x')
    // The count is the highest int32: a startup check that fails must not stop the container.
    expect(startupProbe).toMatchObject({ periodSeconds: 2, failureThreshold: 2147483647 })
    expect(readinessProbe).toMatchObject({ periodSeconds: 7, failureThreshold: 4 })
    expect([startupProbe, readinessProbe]).not.toContainEqual(
      expect.objectContaining({ initialDelaySeconds: expect.anything() }),
    )
    expect(codes).toEqual(['duration/rounded'])
  })

  test('a liveness probe gives a container the start period and the retries after it to start', () => {
    const check = 'healthcheck: {test: a, start_period: 61s, start_interval: 5s, x-platform-liveness: true}'
    // The time is 61 s, and three times the ten seconds that Kubernetes waits between checks.
    expect(one(check).container('x').startupProbe).toMatchObject({ periodSeconds: 5, failureThreshold: 19 })
  })

  test('a start interval without a start period has no effect', () => {
    const { container, codes } = one('healthcheck: {test: a, start_interval: 1s}')
    expect(container('x').startupProbe).toBeUndefined()
    expect(codes).toEqual(['healthcheck/start-interval'])
  })

  test('zero in a healthcheck means the default', () => {
    expect(one('healthcheck: {test: a, interval: 0s, retries: 0}').container('x').readinessProbe).toEqual({
      check: { kind: 'exec', command: ['/bin/sh', '-c', 'a'] },
      timeoutSeconds: 30,
    })
  })

  test.each([
    ['', ['readinessProbe'], []],
    [', x-platform-liveness: true', ['readinessProbe', 'livenessProbe'], []],
    [', x-platform-readiness: false, x-platform-liveness: true', ['livenessProbe'], []],
    [', x-platform-readiness: false', [], ['healthcheck/no-probe']],
  ])('probe flags select the probes of {test: a%s}', (switches, probes, reported) => {
    const { container, codes } = one(`healthcheck: {test: a${switches}}`)
    expect(Object.keys(container('x')).filter(key => key.endsWith('Probe'))).toEqual(probes)
    expect(codes).toEqual(reported)
  })

  test.each(['test: [NONE]', 'disable: true'])('a service with %s has no probe', field => {
    expect(one(`healthcheck: {${field}}`).container('x')).not.toHaveProperty('readinessProbe')
    expect(one(`healthcheck: {${field}}`).codes).toEqual([])
  })

  test('the healthcheck of the image is known only if the image is built', () => {
    expect(one('healthcheck: {interval: 5s}').codes).toEqual(['healthcheck/image-check'])
    const { container } = planOf(`
services:
  x: {build: {context: ., dockerfile_inline: "FROM a\\nHEALTHCHECK CMD curl localhost"}, healthcheck: {interval: 5s}}
`)
    expect(container('x').readinessProbe).toMatchObject({
      check: { kind: 'exec', command: ['/bin/sh', '-c', 'curl localhost'] },
      periodSeconds: 5,
    })
  })

  const dockerfile = 'FROM a\\nHEALTHCHECK --interval=7s --timeout=2s --retries=4 CMD ["ok"]'
  const built = (fields: string, other = '') =>
    planOf(
      `services: {x: {build: {context: ., dockerfile_inline: "${dockerfile.replaceAll('"', '\\"')}"}${fields}}${other}}`,
    )
  const probe = {
    check: { kind: 'exec', command: ['ok'] },
    periodSeconds: 7,
    timeoutSeconds: 2,
    failureThreshold: 4,
  }

  test('the HEALTHCHECK of a Dockerfile becomes a readiness probe, with an info', () => {
    const { container, lines } = built('')
    expect(container('x').readinessProbe).toEqual(probe)
    expect(container('x')).not.toHaveProperty('livenessProbe')
    expect(lines).toEqual(['info healthcheck/from-dockerfile: build'])
  })

  test('the Compose file overrides durations of a HEALTHCHECK individually', () => {
    expect(built(', healthcheck: {interval: 1m}').container('x').readinessProbe).toEqual({
      ...probe,
      periodSeconds: 60,
    })
  })

  test('a HEALTHCHECK is not used for another program, unless a service waits for it', () => {
    expect(built(', command: worker').container('x')).not.toHaveProperty('readinessProbe')
    expect(built(', entrypoint: worker').lines).toEqual([])
    const waiting = ', y: {image: y, depends_on: {x: {condition: service_healthy}}}'
    expect(built(', command: worker', waiting).container('x').readinessProbe).toEqual(probe)
  })

  test('a HEALTHCHECK can be disabled', () => {
    expect(built(', healthcheck: {disable: true}').container('x')).not.toHaveProperty('readinessProbe')
  })

  test('the text `NONE` is a command', () => {
    expect(one('healthcheck: {test: NONE}').codes).toEqual(['healthcheck/none-as-text'])
  })
})

describe('lifecycle', () => {
  test.each([
    ['', 10, []],
    ['stop_grace_period: 1m30s', 90, []],
    ['stop_grace_period: 1500ms', 2, ['duration/rounded']],
    ['stop_grace_period: 0s', 1, []],
  ])('the termination grace period follows from "%s"', (field, seconds, reported) => {
    const { pod, codes } = one(field)
    expect(pod('x').terminationGracePeriodSeconds).toBe(seconds)
    expect(codes).toEqual(reported)
  })

  test('several hooks become one script', () => {
    const { container, codes } = one(`
post_start: [{command: [a, "b c"]}],
pre_stop: [{command: [a, "it's"], working_dir: /w, environment: {K: v w}}, {command: [z], user: root, privileged: true}]`)
    expect(container('x').postStart).toEqual(['a', 'b c'])
    expect(container('x').preStop).toEqual(['/bin/sh', '-c', "(cd /w && env 'K=v w' a 'it'\\''s') && z"])
    expect(codes).toEqual(['hooks/user', 'hooks/privileged'])
  })

  test('a pre_start hook does not take the container name of a service', () => {
    const { pod, plan } = planOf(`services:
  web: {image: w, pre_start: [{image: hook, command: [a]}, {command: [b]}]}
  web-pre-start-1: {image: b, network_mode: "service:web"}
  web-pre-start-2: {image: c}`)
    const names = [...pod('web').init, ...pod('web').containers].map(({ name }) => name)
    expect(names).toEqual(['web-pre-start-3', 'web-pre-start-4', 'web', 'web-pre-start-1'])
    expect(Object.fromEntries(plan.images)).toEqual({ web: 'w', 'web-pre-start-1': 'b', 'web-pre-start-2': 'c' })
  })

  test('pre_start hooks are init containers with the environment and mounts of the service', () => {
    const { pod, codes } = one(`environment: {A: "1"}, volumes: [/d], scale: 2,
pre_start: [{command: [a], environment: {B: "2"}}, {image: "j:1", command: [b], user: "5", per_replica: true}]`)
    expect(pod('x').init).toMatchObject([
      {
        name: 'x-pre-start-1',
        image: 'i:1',
        args: ['a'],
        env: [{ name: 'A' }, { name: 'B' }],
        mounts: [{ path: '/d' }],
      },
      { name: 'x-pre-start-2', image: 'j:1', args: ['b'], security: { runAsUser: 5 } },
    ])
    expect(codes).toContain('hooks/once')
  })
})

describe('security', () => {
  test.each([
    ['user: "1000:2000"', { runAsUser: 1000, runAsGroup: 2000 }],
    ['user: root', { runAsUser: 0 }],
    [
      'cap_add: [CAP_NET_ADMIN, chown], cap_drop: [all]',
      { capabilities: { add: ['CHOWN', 'NET_ADMIN'], drop: ['ALL'] } },
    ],
    ['privileged: true', { privileged: true }],
    ['read_only: true', { readOnlyRootFilesystem: true }],
    ['security_opt: ["no-new-privileges:true"]', { allowPrivilegeEscalation: false }],
    ['security_opt: ["no-new-privileges=false"]', undefined],
    ['security_opt: ["seccomp=unconfined"]', { seccompProfile: { type: 'Unconfined' } }],
    ['security_opt: ["apparmor:unconfined"]', { appArmorProfile: { type: 'Unconfined' } }],
    ['security_opt: ["label=type:t", "label:level:s0"]', { seLinuxOptions: { type: 't', level: 's0' } }],
    ['security_opt: ["label=disable"]', { seLinuxOptions: { type: 'spc_t' } }],
    ['security_opt: ["systempaths=unconfined"]', { procMount: 'Unmasked' }],
  ])('the security context follows from %s', (field, security) => {
    expect(one(field).container('x').security).toEqual(security)
  })

  test.each([
    ['user: postgres', 'security/user-name'],
    ['group_add: [docker]', 'security/user-name'],
    ['security_opt: ["seccomp=./profile.json"]', 'security/profile-on-node'],
    ['security_opt: ["what=ever"]', 'security/unknown-option'],
    ['privileged: true, security_opt: [no-new-privileges]', 'security/contradiction'],
    ['pre_start: [{command: [a], privileged: true}], security_opt: [no-new-privileges]', 'security/contradiction'],
    ['sysctls: {net.core.somaxconn: "1"}', 'sysctls/unsafe'],
    ['network_mode: host, sysctls: {net.ipv4.tcp_syncookies: "0"}', 'sysctls/host-network'],
    ['ipc: host, sysctls: {kernel.shm_rmid_forced: "1"}', 'sysctls/host-network'],
    ['ipc: host, sysctls: {fs.mqueue.msg_max: "1"}', 'sysctls/host-network'],
    ['devices: ["/dev/kvm"]', 'devices/not-given'],
    ['pid: host', 'isolation/host-namespace'],
    ['uts: host', 'isolation/namespace'],
    ['network_mode: host', 'network/host-mode'],
    ['network_mode: other', 'network/unknown-mode'],
  ])('%s is reported', (field, code) => {
    expect(one(field).codes).toContain(code)
  })

  test.each([
    ['', 'baseline', 'user'],
    ['privileged: true', 'privileged', 'privileged'],
    ['cap_add: [NET_ADMIN]', 'privileged', 'cap_add'],
    ['cap_add: [CHOWN]', 'baseline', 'cap_add'],
    ['network_mode: host', 'privileged', 'network_mode'],
    ['ipc: host', 'privileged', 'ipc'],
    ['security_opt: ["seccomp=unconfined"]', 'privileged', 'security_opt'],
  ])('%s needs the level %s', (field, level, reason) => {
    const { security } = one(field).plan
    expect(security.level).toBe(level)
    expect(security.reasons[0]).toMatchObject({ service: 'x', field: reason })
  })

  test('an info names the security level that keys require, with their positions', () => {
    const { diagnostics } = planOf(`
services:
  a: {image: a, cap_add: [CHOWN, NET_ADMIN], user: root}
  b: {image: b, privileged: true, devices: [/dev/kvm]}
`)
    const found = diagnostics.filter(({ code }) => code === 'security/level')
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({
      severity: 'info',
      message: expect.stringContaining('`privileged`, because of `cap_add` of `a` and 2 other keys'),
      related: [{ message: '`privileged` of `b`' }, { message: '`devices` of `b`' }],
    })
    expect(one('user: root').lines).toEqual(['info security/level: root'])
  })

  test('nothing is reported if no key requires a level', () => expect(one('').lines).toEqual([]))

  test('user names are reported in one message', () => {
    expect(one('user: "1000:staff"').container('x').security).toEqual({ runAsUser: 1000 })
    expect(one('user: "1000:staff"').lines).toEqual(['warning security/user-name: staff'])
    expect(one('user: "me:staff"').lines).toEqual(['warning security/user-name: me:staff'])
  })

  test('unconfined system paths give the Pod its own user namespace', () => {
    const field = 'security_opt: ["systempaths=unconfined"]'
    expect(one(field).pod('x')).toMatchObject({ hostUsers: false })
    expect(one(`${field}, privileged: true`).pod('x')).not.toHaveProperty('hostUsers')
    expect(one(`${field}, pid: host`).codes).toContain('security/unknown-option')
  })

  test.each(['pid', 'ipc', 'network_mode'])('a Pod with %s: host has no user namespace', key => {
    const { pod, container, codes } = planOf(`services:
  a: {image: i, network_mode: "service:b", security_opt: ["systempaths=unconfined"]}
  b: {image: i, ${key}: host}`)
    expect(pod('b')).not.toHaveProperty('hostUsers')
    expect([container('b'), ...pod('b').containers].filter(({ security }) => security?.procMount)).toEqual([])
    expect(codes).toContain('security/unknown-option')
  })

  test('the restricted policy adds its settings, and reports keys that violate it', () => {
    const { plan, pod, container, codes } = one('user: "1000"', { policy: 'restricted' })
    expect(codes).toEqual([])
    expect(plan.security).toEqual({ level: 'restricted', reasons: [] })
    expect(pod('x')).toMatchObject({ runAsNonRoot: true })
    expect(container('x').security).toEqual({
      runAsUser: 1000,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    })
    expect(one('user: "0", cap_add: [CHOWN, NET_BIND_SERVICE]', { policy: 'restricted' }).codes).toEqual([
      'security/not-restricted',
      'security/not-restricted',
    ])
  })
})

describe('the Pod', () => {
  test('settings of the Pod come from one key each', () => {
    const { pod, codes } = one(`hostname: box, runtime: gvisor, init: true, group_add: ["20", "10"],
dns: [1.1.1.1, 8.8.8.8], dns_search: [a.b], dns_opt: ["ndots:2", rotate],
extra_hosts: ["b=10.0.0.2", "a=10.0.0.1", "c=10.0.0.1"], sysctls: {net.ipv4.tcp_syncookies: "0"}`)
    expect(codes).toEqual([])
    expect(pod('x')).toMatchObject({
      hostname: 'box',
      runtimeClassName: 'gvisor',
      shareProcessNamespace: true,
      supplementalGroups: [10, 20],
      dns: {
        nameservers: ['1.1.1.1', '8.8.8.8'],
        searches: ['a.b'],
        options: [{ name: 'ndots', value: '2' }, { name: 'rotate' }],
      },
      hostAliases: [
        { ip: '10.0.0.1', hostnames: ['a', 'c'] },
        { ip: '10.0.0.2', hostnames: ['b'] },
      ],
      sysctls: [{ name: 'net.ipv4.tcp_syncookies', value: '0' }],
    })
  })

  test.each([
    ['hostname: a.example.com', 'hostname/dotted'],
    ['extra_hosts: ["h=host-gateway"]', 'extra-hosts/host-gateway'],
    ['extra_hosts: ["a_b=10.0.0.1"]', 'extra-hosts/bad-name'],
    ['dns: [1.1.1.1, 1.0.0.1, 8.8.8.8]', 'dns/limit'],
  ])('%s is reported', (field, code) => {
    expect(one(field).codes).toEqual([code])
  })

  test('resources of a container include devices as extended resources', () => {
    const { container, codes } = one('cpus: 0.5, mem_reservation: 64m, gpus: all')
    expect(container('x').resources).toEqual({
      limits: { cpu: '500m', 'nvidia.com/gpu': '1' },
      requests: { memory: '64Mi' },
    })
    expect(codes).toEqual(['gpus/all'])
    expect(one('gpus: [{device_ids: ["0", "1"]}]').container('x').resources).toEqual({
      limits: { 'nvidia.com/gpu': '2' },
    })
    expect(one('gpus: [{device_ids: ["0", "1"]}]').codes).toEqual(['gpus/device-ids'])
  })
})

describe('scheduling', () => {
  test.each([
    ['platform: linux/amd64', { 'kubernetes.io/arch': 'amd64', 'kubernetes.io/os': 'linux' }, []],
    ['platform: linux/x86_64', { 'kubernetes.io/arch': 'amd64', 'kubernetes.io/os': 'linux' }, []],
    ['platform: linux/arm64/v8', { 'kubernetes.io/arch': 'arm64', 'kubernetes.io/os': 'linux' }, []],
    [
      'platform: linux/arm/v7',
      { 'kubernetes.io/arch': 'arm', 'kubernetes.io/os': 'linux' },
      ['scheduling/platform-variant'],
    ],
    ['platform: arm64', { 'kubernetes.io/arch': 'arm64' }, []],
    ['platform: plan9/amd64', undefined, ['scheduling/unknown-platform']],
    ['x-node-selector: {disk: ssd}, platform: linux', { disk: 'ssd', 'kubernetes.io/os': 'linux' }, []],
  ])('the node selector follows from %s', (field, nodeSelector, reported) => {
    const { pod, codes } = one(field)
    expect(pod('x').nodeSelector).toEqual(nodeSelector)
    expect(codes).toEqual(reported)
  })

  test.each([
    ['node.labels.disk == ssd', { key: 'disk', operator: 'In', values: ['ssd'] }],
    ['node.labels.disk!=ssd', { key: 'disk', operator: 'NotIn', values: ['ssd'] }],
    ['engine.labels.os==x', { key: 'os', operator: 'In', values: ['x'] }],
    ['disktype=ssd', { key: 'disktype', operator: 'In', values: ['ssd'] }],
    ['node.hostname == n1', { key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }],
    ['node.role == manager', { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' }],
    ['node.role == worker', { key: 'node-role.kubernetes.io/control-plane', operator: 'DoesNotExist' }],
    ['node.role != manager', { key: 'node-role.kubernetes.io/control-plane', operator: 'DoesNotExist' }],
    ['node.id == n1', { key: 'metadata.name', operator: 'In', values: ['n1'], field: true }],
    ['node.platform.arch == x86_64', { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }],
  ])('the constraint %s becomes a node requirement', (constraint, requirement) => {
    const { pod, codes } = one(`deploy: {placement: {constraints: ["${constraint}"]}}`)
    expect(codes).toEqual([])
    expect(pod('x').nodeRequirements).toEqual([requirement])
  })

  test.each([
    ['platform: linux/arm64', ['node.platform.arch==x86_64']],
    ['platform: linux/arm64', ['node.platform.arch!=aarch64']],
    ['x-node-selector: {disk: ssd}', ['node.labels.disk == hdd']],
    ['x-node-selector: {node-role.kubernetes.io/control-plane: ""}', ['node.role == worker']],
    ['tty: true', ['node.role == manager', 'node.role == worker']],
    ['tty: true', ['node.id == n1', 'node.id == n2']],
    ['tty: true', ['node.labels.disk == ssd', 'node.labels.disk != ssd']],
  ])('%s with the constraints %j is a contradiction', (keys, constraints) => {
    const { codes } = one(`${keys}, deploy: {placement: {constraints: ${JSON.stringify(constraints)}}}`)
    expect(codes).toEqual(['scheduling/contradiction'])
  })

  test.each([
    ['platform: linux/amd64', ['node.platform.arch==x86_64', 'node.platform.os == linux']],
    ['x-node-selector: {disk: ssd}', ['node.labels.disk != hdd', 'node.labels.zone == a']],
    ['tty: true', ['node.role == manager', 'node.role != worker']],
    ['tty: true', ['node.id != n1', 'node.id != n2', 'node.hostname == n3']],
  ])('%s with the constraints %j is no contradiction', (keys, constraints) => {
    expect(one(`${keys}, deploy: {placement: {constraints: ${JSON.stringify(constraints)}}}`).codes).toEqual([])
  })

  test.each(['node.ip == 1', 'node.labels.disk', 'node.role > 3', '=='])('%s is not a constraint', constraint => {
    expect(one(`deploy: {placement: {constraints: ["${constraint}"]}}`).codes).toEqual(['scheduling/bad-constraint'])
  })

  test('placement preferences become topology spread constraints', () => {
    const { pod } = one('deploy: {placement: {max_replicas_per_node: 1, preferences: [{spread: node.labels.zone}]}}')
    expect(pod('x')).toMatchObject({ spreadOut: true, topologyKeys: ['topology.kubernetes.io/zone'] })
    expect(one('deploy: {placement: {max_replicas_per_node: 2}}').codes).toEqual(['scheduling/replicas-per-node'])
  })
})

describe('updates', () => {
  test.each([
    ['rolling', '', 'Deployment', { type: 'RollingUpdate' }],
    ['recreate', '', 'Deployment', { type: 'Recreate' }],
    ['rolling', ', volumes: [/d]', 'StatefulSet', { type: 'RollingUpdate' }],
    ['on-delete', ', volumes: [/d]', 'StatefulSet', { type: 'OnDelete' }],
  ])('the update policy %s%s is allowed on a %s', (policy, fields, kind, update) => {
    const { workload, codes } = one(`labels: {dev.platform/update: ${policy}}${fields}`)
    expect(codes).toEqual([])
    expect(workload('x')).toMatchObject({ kind, update })
  })

  test.each([
    ['on-delete', '', 'a deployment', 'use `rolling` or `recreate`', 'because it mounts no volume'],
    ['recreate', ', volumes: [/d]', 'a stateful set', 'use `rolling` or `on-delete`', 'the anonymous volume `/d`'],
    ['rolling', ', restart: "no"', 'a job', 'remove the label `dev.platform/update`', 'its restart policy is `no`'],
    ['on-delete', ', deploy: {mode: global}', 'a daemon set', 'use `rolling`', 'its mode is `global`'],
  ])('the update policy %s%s is not allowed on %s', (policy, fields, kind, hint, because) => {
    const { diagnostics } = one(`labels: {dev.platform/update: ${policy}}${fields}`)
    expect(diagnostics).toHaveLength(1)
    expect(diagnostics[0]).toMatchObject({
      code: 'update-policy/not-allowed',
      severity: 'error',
      message: `update policy \`${policy}\` is not allowed on ${kind}`,
      hint,
      related: [{ message: expect.stringContaining(because) }],
    })
  })

  test.each([
    ['order: start-first', '', { type: 'RollingUpdate', maxSurge: 1, maxUnavailable: 0 }],
    ['order: stop-first, parallelism: 2', '', { type: 'RollingUpdate', maxSurge: 0, maxUnavailable: 2 }],
    ['parallelism: 0', '', { type: 'RollingUpdate', maxSurge: 0, maxUnavailable: '100%' }],
    ['delay: 5s', '', undefined],
    ['parallelism: 2', ', volumes: [/d]', { type: 'RollingUpdate', maxUnavailable: 2 }],
    ['parallelism: 1', ', volumes: [/d]', undefined],
    ['order: start-first', ', labels: {dev.platform/update: recreate}', { type: 'Recreate' }],
  ])('the update strategy follows from update_config: {%s}%s', (config, fields, update) => {
    const workload = one(`deploy: {update_config: {${config}}}${fields}`).workload('x')
    expect('update' in workload ? workload.update : undefined).toEqual(update)
  })

  test('a delay becomes minReadySeconds', () => {
    expect(one('deploy: {update_config: {delay: 5s}}').workload('x')).toMatchObject({ minReadySeconds: 5 })
  })

  test.each([
    ['monitor: 30s', undefined],
    ['monitor: 20m', 1200],
    ['delay: 15m', 1500],
  ])('the progress deadline exceeds the delay, and is at least ten minutes: %s', (config, seconds) => {
    const workload = one(`deploy: {update_config: {${config}}}`).workload('x')
    expect('progressDeadlineSeconds' in workload ? workload.progressDeadlineSeconds : undefined).toBe(seconds)
  })

  test('an update of several Pods of a StatefulSet at once is reported as an info', () => {
    expect(one('volumes: [/d], deploy: {update_config: {parallelism: 2}}').lines).toEqual([
      'info update-policy/stateful-set-parallelism: 2',
    ])
  })

  const stopFirst = { type: 'RollingUpdate', maxSurge: 0, maxUnavailable: 1 }
  test.each([
    ['ports: [{target: 80, published: "80", mode: host}]', stopFirst],
    ['ports: ["80:80"], network_mode: host', stopFirst],
    ['network_mode: host', undefined],
    ['deploy: {placement: {max_replicas_per_node: 1}}', stopFirst],
    ['ports: [{target: 80, published: "80", mode: host}], labels: {dev.platform/update: rolling}', stopFirst],
    ['deploy: {placement: {max_replicas_per_node: 1}}, labels: {dev.platform/update: rolling}', stopFirst],
    [
      'deploy: {placement: {max_replicas_per_node: 1}}, volumes: [/d], labels: {dev.platform/update: rolling}',
      { type: 'RollingUpdate' },
    ],
    ['deploy: {replicas: 2, placement: {max_replicas_per_node: 2}}', undefined],
    [
      'ports: [{target: 80, mode: host}], network_mode: host, labels: {dev.platform/update: recreate}',
      { type: 'Recreate' },
    ],
  ])('an update frees a host port or a node before it is used again: %s', (fields, update) => {
    const workload = one(fields).workload('x')
    expect('update' in workload ? workload.update : undefined).toEqual(update)
  })

  test('an update frees the host port of a container that others in its Pod wait for', () => {
    const { workload } = planOf(`services:
  db: {image: i, healthcheck: {test: x}, ports: [{target: 80, published: "80", mode: host}]}
  app: {image: i, network_mode: "service:db", depends_on: {db: {condition: service_healthy}}}`)
    expect(workload('db')).toMatchObject({ update: stopFirst })
  })

  test.each([
    ['network_mode: host, ports: ["80:80"], deploy: {update_config: {order: start-first}}', 'host port'],
    ['deploy: {update_config: {order: start-first}, placement: {max_replicas_per_node: 1}}', 'max_replicas_per_node'],
  ])('start-first is not possible if only one Pod fits on a node: %s', (fields, reason) => {
    const { workload, diagnostics } = one(fields)
    expect(workload('x')).toMatchObject({ update: stopFirst })
    const found = diagnostics.find(({ code }) => code === 'update-policy/host-port')
    expect(found?.message).toContain(reason)
  })
})

test("labels become annotations of every object; devctl's own do not reach Pod templates", () => {
  const { plan, workload, pod, codes } =
    one(`ports: ["8080:80"], labels: {a: "1", dev.platform/update: rolling, "b c": "2"},
annotations: {a: own, d: "4"}, deploy: {labels: {a: late, e: "5"}}`)
  expect(codes).toEqual(['labels/bad-key', 'labels/overruled'])
  const own = { a: '1', 'dev.platform/update': 'rolling' }
  expect(plan.services[0]!.annotations).toEqual(own)
  expect(plan.routes[0]!.annotations).toEqual(own)
  expect(workload('x').annotations).toEqual({ ...own, e: '5' })
  expect(pod('x').annotations).toEqual({ a: 'own', d: '4' })
})

// A real API server refused these with `etcdserver: request is too large`.
describe('a Pod that is too large for the API server', () => {
  const many = (count: number, item: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => item(n)).join(', ')

  test.each([
    ['words', `command: "${'a '.repeat(600_000)}"`],
    ['variables', `environment: {${many(22_000, n => `E${n}: v`)}}`],
    ['volumes that are filled', `volumes: [${many(1_000, n => `/v${n}`)}]`],
  ])('a Pod is refused because of its %s', (_, field) => {
    expect(one(field).codes).toContain('services/too-large')
  })
})
