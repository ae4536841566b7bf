import { expect, test } from 'vitest'
import { type Json, plain, read, readWeb } from './read.ts'

test('an empty service has empty lists and no values', () => {
  const { web, found } = readWeb({ image: 'nginx' })
  expect(found).toEqual([])
  expect(web).toMatchObject({
    name: 'web',
    image: { value: 'nginx' },
    environment: [],
    labels: [],
    ports: [],
    mounts: [],
    dependsOn: [],
    restart: {},
    stdinOpen: false,
    tty: false,
    attach: true,
    resources: { limits: {}, requests: {} },
    deploy: { labels: [], constraints: [], spread: [] },
  })
  for (const key of ['command', 'build', 'healthcheck', 'scale', 'user', 'stopGracePeriod'] as const)
    expect(web[key]).toBeUndefined()
})

test('an empty command differs from an absent one', () => {
  expect(readWeb({ command: null, entrypoint: [] }).web).toMatchObject({ entrypoint: { words: [] } })
  expect(readWeb({ command: null }).web.command).toBeUndefined()
  expect(readWeb({ command: ['echo', 'hi there', 7] }).web.command?.words).toEqual(['echo', 'hi there', '7'])
})

test('keys of the process are read', () => {
  const { web } = readWeb({
    working_dir: '/app',
    user: '1000:1000',
    group_add: ['1', 'audio', 3],
    init: true,
    stdin_open: true,
    tty: true,
    stop_signal: 'SIGINT',
    stop_grace_period: '1m30s',
    attach: false,
  })
  expect(web).toMatchObject({
    workingDir: { value: '/app' },
    user: { value: '1000:1000' },
    stdinOpen: true,
    tty: true,
    attach: false,
  })
  expect(web.groupAdd.map(plain)).toEqual(['1', 'audio', '3'])
  expect(web.stopGracePeriod?.value.milliseconds).toBe(90_000)
})

test('the build of a service is read', () => {
  const { web } = readWeb({
    build: { context: '/src', dockerfile: 'Dockerfile', target: 'prod', args: { B: '2', A: '1' } },
  })
  expect(web.build).toMatchObject({
    context: { value: '/src' },
    dockerfile: { value: 'Dockerfile' },
    target: { value: 'prod' },
    args: [
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
    ],
  })
})

test.each([
  'nginx',
  'nginx:1.29',
  'registry.example.com:5000/a/b_c/d--e:v1',
  'localhost/x',
  'app@sha256:0123456789012345678901234567890123456789012345678901234567890123',
])('the image %s is accepted', image => {
  const { web, found } = readWeb({ image })
  expect([found, web.image?.value]).toEqual([[], image])
})

test.each([
  ['app:', '"app:"', 'write a tag, or give the variable a default: `${TAG:-latest}`'],
  ['App', 'App', 'names are in lower case: `app`'],
  ['app:a b', 'a b', 'a tag is at most 128 letters, digits, `_`, `.` and `-`'],
  ['https://x/y', 'https://x/y', 'leave the scheme out: `REGISTRY/NAME:TAG`'],
])('the image %s is refused with a hint', (image, at, hint) => {
  const { found, hints } = readWeb({ image })
  expect(found[0]).toMatch(/^error image\/bad-reference /)
  expect(found[0]).toContain(at)
  expect(hints).toEqual([hint])
})

test('the environment is sorted, keeps empty values and omits variables without a value', () => {
  const { web, found } = readWeb({ environment: { B: '', A: 1, Z: null, a: true } })
  expect(web.environment.map(({ name, value }) => [name, value])).toEqual([
    ['A', '1'],
    ['B', ''],
    ['a', 'true'],
  ])
  expect(found).toEqual(['info environment/no-value "Z"'])
})

test.each<[Json, string]>([
  [{ '': 'x' }, 'error environment/empty-name ""'],
  [{ A: 'x\0y' }, 'error environment/nul "x\\u0000y"'],
])('the environment %j is refused', (environment, problem) => {
  expect(readWeb({ environment }).found).toEqual([problem])
})

test('labels are sorted, and labels reserved for Compose are refused', () => {
  const { web, found } = readWeb({
    labels: { b: '1', a: null, 'com.docker.compose.project': 'x' },
    annotations: { y: 'z' },
    deploy: { labels: { 'com.docker.compose.service': 'x', c: 'd' } },
  })
  expect(web.labels.slice(0, 2)).toMatchObject([
    { name: 'a', value: '' },
    { name: 'b', value: '1' },
  ])
  expect(web.annotations).toMatchObject([{ name: 'y', value: 'z' }])
  expect(found).toEqual([
    'error labels/reserved "com.docker.compose.project"',
    'error labels/reserved "com.docker.compose.service"',
  ])
})

test.each([
  ['com.docker.compose', ['error labels/reserved "com.docker.compose"']],
  ['com.docker.compose.note', ['error labels/reserved "com.docker.compose.note"']],
  ['com.docker.composer.note', []],
  ['com.docker.compose-note', []],
])('the namespace of Compose decides if the label %s is refused', (label, problems) => {
  expect(readWeb({ labels: { [label]: 'x' } }).found).toEqual(problems)
})

test('dependencies and links are read', () => {
  const { web, found } = readWeb(
    {
      depends_on: {
        db: { condition: 'service_healthy', required: false, restart: true },
        cache: { condition: 'service_started', required: true },
      },
      links: ['cache', 'db:database'],
      external_links: ['other:alias'],
    },
    { implicitDependencies: ['web cache'] },
  )
  expect(found).toEqual([])
  expect(web.dependsOn).toMatchObject([
    { service: 'db', condition: 'service_healthy', required: false, restart: true, implicit: false },
    { service: 'cache', condition: 'service_started', required: true, restart: false, implicit: true },
  ])
  expect(web.links).toMatchObject([
    { service: 'cache', alias: 'cache' },
    { service: 'db', alias: 'database' },
  ])
  expect(web.externalLinks).toMatchObject([{ service: 'other', alias: 'alias' }])
})

test.each(['db:', ':x', 'a:b:c'])('the link %s is refused', link => {
  expect(readWeb({ links: [link] }).found).toEqual([`error links/bad-form "${link}"`])
})

test('hooks are read with their own environment', () => {
  const { web } = readWeb({
    pre_start: [{ command: ['a'], image: 'x', per_replica: true, environment: { B: '1' }, entrypoint: ['e'] }],
    post_start: [{ command: ['a', 'b'], user: 'root', privileged: true, working_dir: '/w' }],
    pre_stop: [{ command: ['c'] }],
  })
  expect(web.preStart).toMatchObject([
    {
      command: { words: ['a'] },
      image: { value: 'x' },
      perReplica: { value: true },
      environment: [{ name: 'B', value: '1' }],
      entrypoint: { words: ['e'] },
    },
  ])
  expect(web.postStart).toMatchObject([
    {
      command: { words: ['a', 'b'] },
      user: { value: 'root' },
      privileged: { value: true },
      workingDir: { value: '/w' },
    },
  ])
  expect(web.preStop).toMatchObject([{ command: { words: ['c'] }, environment: [] }])
})

test('networks, aliases and extra hosts are read', () => {
  const { web, found } = readWeb({
    networks: { back: { aliases: ['db', 'store'] }, default: null },
    hostname: 'h',
    container_name: 'c',
    dns: ['8.8.8.8', '2001:4860:4860::8888'],
    dns_search: ['a.b'],
    dns_opt: ['use-vc'],
    extra_hosts: ['a=1.2.3.4', 'b=::1', 'c=host-gateway'],
  })
  expect(found).toEqual([])
  expect(web.networks.map(({ name, aliases }) => [name, aliases.map(plain)])).toEqual([
    ['back', ['db', 'store']],
    ['default', []],
  ])
  expect(web.extraHosts.map(({ host, address }) => [host, address])).toEqual([
    ['a', '1.2.3.4'],
    ['b', '::1'],
    ['c', 'host-gateway'],
  ])
})

test('host names in place of IP addresses are refused', () => {
  const { found } = readWeb({ dns: ['dns.google'], extra_hosts: ['a=example.com', 'b=1.2.3.999'] })
  expect(found).toEqual([
    'error dns/bad-address "dns.google"',
    'error extra-hosts/bad-address example.com',
    'error extra-hosts/bad-address 1.2.3.999',
  ])
})

test('capabilities are read in the notation of Kubernetes', () => {
  const { web, found, hints } = readWeb({ cap_add: ['cap_net_admin', 'SYS_TIME'], cap_drop: ['all', 'NET_ADMN'] })
  expect(web.capAdd.map(plain)).toEqual(['NET_ADMIN', 'SYS_TIME'])
  expect(web.capDrop.map(plain)).toEqual(['ALL', 'NET_ADMN'])
  expect(found).toEqual(['warning capabilities/unknown "NET_ADMN"'])
  expect(hints).toEqual(['did you mean `NET_ADMIN`?'])
})

test('device requests become extended resources', () => {
  const { web } = readWeb({
    gpus: [{ count: -1 }, { count: 2, driver: 'amd' }],
    deploy: {
      resources: {
        reservations: {
          devices: [
            { capabilities: ['gpu', 'utility'], driver: 'nvidia', device_ids: ['0', '3'] },
            { capabilities: ['tpu'], count: 4 },
            { capabilities: ['fpga'], count: 1 },
            { capabilities: ['gpu'], driver: 'unheard-of' },
          ],
          generic_resources: [
            { discrete_resource_spec: { kind: 'gpu', value: 2 } },
            { discrete_resource_spec: { kind: 'example.com/card', value: 1 } },
            { discrete_resource_spec: { kind: 'ssd', value: 1 } },
          ],
        },
      },
    },
    devices: [{ source: '/dev/x', target: '/dev/y', permissions: 'rw' }],
  })
  expect(web.gpus.map(({ resource, count, deviceIds }) => [resource, count, deviceIds])).toEqual([
    ['nvidia.com/gpu', -1, false],
    ['amd.com/gpu', 2, false],
    ['nvidia.com/gpu', 2, true],
    ['google.com/tpu', 4, false],
    [undefined, 1, false],
    [undefined, -1, false],
    ['nvidia.com/gpu', 2, false],
    ['example.com/card', 1, false],
    [undefined, 1, false],
  ])
  expect(web.devices).toMatchObject([{ source: '/dev/x', target: '/dev/y', permissions: 'rw' }])
})

test('`deploy` is read', () => {
  const { web, found } = readWeb({
    deploy: {
      mode: 'global',
      endpoint_mode: 'dnsrr',
      placement: {
        constraints: ['node.role==manager'],
        preferences: [{ spread: 'node.labels.zone' }],
        max_replicas_per_node: 1,
      },
      update_config: { parallelism: 2, delay: '10s', monitor: '5s', order: 'start-first' },
    },
  })
  expect(found).toEqual([])
  expect(web.deploy).toMatchObject({
    mode: { value: 'global' },
    endpointMode: { value: 'dnsrr' },
    constraints: [{ value: 'node.role==manager' }],
    spread: [{ value: 'node.labels.zone' }],
    maxReplicasPerNode: { value: 1 },
    update: {
      parallelism: { value: 2 },
      delay: { value: { milliseconds: 10_000 } },
      monitor: { value: { milliseconds: 5000 } },
      order: { value: 'start-first' },
    },
  })
})

test.each<[Json, string]>([
  [{ 'x-node-selector': { 'a b': 'x' } }, 'error scheduling/bad-node-label "a b"'],
  [{ 'x-node-selector': { disk: 's s d' } }, 'error scheduling/bad-node-label "s s d"'],
])('the node selector of %j is refused', (service, problem) => {
  expect(readWeb(service).found).toEqual([problem])
})

test('scale, replicas and the node selector are read', () => {
  expect(readWeb({ scale: 3, deploy: { replicas: 3 } }).web.scale?.value).toBe(3)
  expect(readWeb({ deploy: { replicas: 0 } }).web.scale?.value).toBe(0)
  expect(
    readWeb({ 'x-node-selector': { b: 'x', a: 1, c: true } }).web.nodeSelector.map(({ name, value }) => [name, value]),
  ).toEqual([
    ['a', '1'],
    ['b', 'x'],
    ['c', 'true'],
  ])
})

test('models with an endpoint set variables, which win over those of `environment`', () => {
  const { project } = read({
    services: {
      web: {
        environment: { E: 'http://else', PORT: '80' },
        models: {
          'my-llm': null,
          other: { endpoint_var: 'E', model_var: 'M' },
          third: { model_var: 'N' },
          local: null,
        },
      },
    },
    models: {
      'my-llm': { model: 'ai/x', 'x-endpoint': 'http://ollama:11434/v1' },
      other: { 'x-endpoint': 'https://llm.example.com' },
      third: { model: 'ai/y', 'x-endpoint': 'http://ollama:11434/v1' },
      local: { model: 'ai/z' },
    },
  })
  expect(project.services.get('web')?.environment.map(({ name, value }) => `${name}=${value}`)).toEqual([
    'E=https://llm.example.com',
    'M=other',
    'MY_LLM_MODEL=ai/x',
    'MY_LLM_URL=http://ollama:11434/v1',
    'N=ai/y',
    'PORT=80',
    'THIRD_URL=http://ollama:11434/v1',
  ])
})

test.each(['', 'ollama', 'ollama:11434', 'ftp://ollama', 'http://', 'http://a b/v1', 'http://a:port/v1', '/v1'])(
  'the endpoint `%s` of a model is refused',
  endpoint => {
    const { found } = read({ services: {}, models: { llm: { model: 'ai/x', 'x-endpoint': endpoint } } })
    expect(found).toEqual([`error models/bad-endpoint ${JSON.stringify(endpoint)}`])
  },
)
