import type { Random } from './random.ts'

/** Names that the parts of a generated project can refer to. */
export interface World {
  readonly services: readonly string[]
  readonly volumes: readonly string[]
  readonly networks: readonly string[]
  readonly configs: readonly string[]
  readonly secrets: readonly string[]
}

export type Make = (random: Random, world: World, self: string) => unknown

const words = ['alpha', 'beta', 'gamma', 'delta', 'omega']

/**
 * Text for a value: plain words, what YAML takes for something else, blanks, colons, Unicode, and variables with every
 * operator.
 */
export function text(random: Random): string {
  return random.pick([
    ...[
      'plain',
      'two words',
      'a:b',
      'a: b',
      'ünïcödé ✓',
      'true',
      'no',
      '1.10',
      '0x1F',
      '017',
      '1e3',
      '12:30',
      '~',
      'null',
      '#hash',
    ],
    ...[
      '"quoted"',
      "it's",
      'back\\slash',
      ' padded ',
      '',
      'a=b=c',
      '{}',
      '[x]',
      '*star',
      '&amp',
      '%pct',
      '@at',
      '`tick`',
      '-',
      '$$',
      '100%',
    ],
    expression(random),
    `pre-${expression(random)}-post`,
    `${expression(random)}${expression(random)}`,
    `$$${random.pick(words)}`,
    `multi\nline\n`,
    `${random.pick(words)}/${random.int(0, 99)}`,
  ])
}

/** An interpolation; the variables SET, EMPTY and PORT have values, UNSET has none. */
export function expression(random: Random, depth = 0): string {
  const name = random.pick(['SET', 'EMPTY', 'UNSET', 'DOTENV', 'BOTH'])
  const inner = () =>
    depth < 2 && random.chance(0.4)
      ? expression(random, depth + 1)
      : random.pick([...words, '', 'a b', '$$x', '{"j":1}'])
  return random.pick([
    `$${name}`,
    `\${${name}}`,
    `\${${name}:-${inner()}}`,
    `\${${name}-${inner()}}`,
    `\${${name}:+${inner()}}`,
    `\${${name}+${inner()}}`,
    '${SET:?needed}',
    '${EMPTY?needed}',
  ])
}

/** A scalar of any type. */
const scalar = (random: Random): unknown =>
  random.pick([
    text(random),
    random.int(-5, 70000),
    random.chance(0.5),
    null,
    1.5,
    0.25,
    1e21,
    random.int(0, 7),
    text(random),
  ])

const word = (random: Random) => random.pick(words)

/** A mapping, or the list of `NAME=value` that means the same. */
function pairs(random: Random, { names = ['A', 'B', 'C_D', 'E.F', 'SET', 'UNSET'], nulls = true } = {}): unknown {
  const chosen = random.some(names, 0.5)
  if (random.chance(0.5)) {
    return Object.fromEntries(chosen.map(name => [name, nulls ? scalar(random) : text(random)]))
  }
  return chosen.map(name => (nulls && random.chance(0.15) ? name : `${name}=${text(random)}`))
}

const duration = (random: Random) =>
  random.pick(['1s', '1m30s', '500ms', '2h', '1h5m', '90s', '0s', '1.5s', '1d', '2w', '1m0s', '10us', '0'])
const bytes = (random: Random) =>
  random.pick(['64m', '1g', '512k', '1gb', '2GB', '1.5g', '1024', '100b', '1Kib', '3 m', 1048576])
const count = (random: Random) => random.pick([random.int(0, 5), `${random.int(0, 5)}`, '${COUNT}', '${UNSET:-3}'])
const yes = (random: Random) => random.pick([true, false, 'true', 'false', '${FLAG}', true, false])

/**
 * A command as a text or a list. Operators of shells are left out: devctl refuses them, the reference drops what
 * follows.
 */
const commandLine = (random: Random): unknown =>
  random.pick<() => unknown>([
    () => ['sh', '-c', text(random)],
    () => `run --flag=${random.int(1, 9)} "two words" 'single $$X' plain\\ blank`,
    () => `echo \${SET} "\${UNSET:-x y}"`,
    () => [],
    () => 'one',
    () => random.list(1, 3, () => text(random)),
    () => 'a "b\\"c" d\'e\'f',
  ])()

const hookOf = (random: Random) => ({
  command: commandLine(random),
  ...(random.chance(0.3) && { user: 'root' }),
  ...(random.chance(0.3) && { privileged: yes(random) }),
  ...(random.chance(0.3) && { working_dir: '/srv' }),
  ...(random.chance(0.3) && { environment: pairs(random) }),
})

const port = (random: Random): unknown =>
  random.pick<() => unknown>([
    () => random.int(1, 65535),
    () => `${random.int(1, 65535)}`,
    () => `${random.int(8000, 8099)}:${random.int(80, 99)}`,
    () => `${random.int(8000, 8099)}:${random.int(80, 99)}/udp`,
    () => '127.0.0.1:9000:90',
    () => '127.0.0.1::91',
    () => '[::1]:9001:92',
    () => '3000-3002',
    () => '4000-4001:5000-5001',
    () => '6000-6010:6000',
    () => '0:93',
    () => ':94',
    () => '${PORT}:${PORT}',
    () => ({
      target: random.pick<unknown>([80, '81', '${PORT}']),
      ...(random.chance(0.7) && { published: random.pick<unknown>(['8080', 8081, '8082-8090']) }),
      ...(random.chance(0.3) && { protocol: random.pick(['tcp', 'udp']) }),
      ...(random.chance(0.3) && { mode: random.pick(['host', 'ingress']) }),
      ...(random.chance(0.3) && { host_ip: '127.0.0.1' }),
      ...(random.chance(0.3) && { name: 'web' }),
      ...(random.chance(0.3) && { app_protocol: 'http' }),
    }),
  ])()

const volume = (random: Random, world: World, at: number): unknown => {
  const target = `/data/${at}`
  const named = random.pick(world.volumes)
  return random.pick<() => unknown>([
    () => `${named}:${target}`,
    () => `${named}:${target}:ro`,
    () => `${named}:${target}/:rw,nocopy`,
    () => target,
    () => `./src:${target}`,
    () => `../up/../src:${target}:ro`,
    () => `/abs/path:${target}:rshared`,
    () => `~/home:${target}`,
    () => `./src:${target}:z`,
    () => `./\${UNSET:-dir}:${target}`,
    () => ({ type: 'volume', source: named, target, volume: { nocopy: yes(random), subpath: 'sub' } }),
    () => ({ type: 'volume', target, volume: { labels: pairs(random, { nulls: false }) } }),
    () => ({
      type: 'bind',
      source: './src',
      target,
      bind: { create_host_path: random.chance(0.5), propagation: 'rprivate' },
    }),
    () => ({ type: 'bind', source: '../other', target, read_only: yes(random), consistency: 'cached' }),
    () => ({ type: 'tmpfs', target, tmpfs: { size: bytes(random), mode: 0o1777 } }),
    () => ({ type: 'image', source: 'registry.example.com/assets:1', target, image: { subpath: 'a' } }),
  ])()
}

const fileMount = (random: Random, names: readonly string[]): unknown[] =>
  random.some(names, 0.6).map(source =>
    random.pick<() => unknown>([
      () => source,
      () => ({ source }),
      () => ({
        source,
        target: `/etc/${source}`,
        mode: random.pick<unknown>([0o440, '0444', 292]),
        uid: '103',
        gid: '104',
      }),
      () => ({ source, target: `relative-${source}` }),
    ])(),
  )

const limits = (random: Random) => ({
  ...(random.chance(0.7) && { cpus: random.pick<unknown>(['0.5', '0.001', 2, 1.25]) }),
  ...(random.chance(0.7) && { memory: random.pick(['64m', '1g', '1.5G', '512K']) }),
})

const updateConfig = (random: Random) => ({
  parallelism: count(random),
  delay: duration(random),
  failure_action: 'pause',
  monitor: duration(random),
  max_failure_ratio: random.pick([0.1, 0, 1]),
  order: random.pick(['start-first', 'stop-first']),
})

/** Generators for the value of each attribute of a service. */
export const attributes: Readonly<Record<string, Make>> = {
  annotations: random => pairs(random),
  attach: yes,
  blkio_config: random => ({
    weight: random.int(10, 1000),
    device_read_bps: [{ path: '/dev/sda', rate: bytes(random) }],
  }),
  build: random =>
    random.pick<() => unknown>([
      () => '.',
      () => './app',
      () => 'https://github.com/example/app.git#main:sub',
      () => ({
        context: random.pick(['.', './app', '../sibling', '${SET}']),
        ...(random.chance(0.4) && { dockerfile: 'web.Dockerfile' }),
        ...(random.chance(0.4) && { args: pairs(random) }),
        ...(random.chance(0.3) && { target: 'production' }),
        ...(random.chance(0.3) && { labels: pairs(random) }),
        ...(random.chance(0.3) && { cache_from: ['registry.example.com/cache'], cache_to: ['type=inline'] }),
        ...(random.chance(0.3) && { tags: ['registry.example.com/web:1', 'registry.example.com/web:2'] }),
        ...(random.chance(0.2) && { no_cache: random.chance(0.5), pull: true }),
        ...(random.chance(0.2) && { network: 'host', shm_size: bytes(random) }),
        ...(random.chance(0.2) && { extra_hosts: ['a=1.1.1.1', 'b:2.2.2.2'] }),
        ...(random.chance(0.2) && { additional_contexts: random.pick<unknown>([{ base: './base' }, ['base=./base']]) }),
        ...(random.chance(0.2) && { ssh: ['default'] }),
        ...(random.chance(0.2) && { ulimits: { nofile: 100, nproc: { soft: 1, hard: 2 } } }),
      }),
    ])(),
  cap_add: random => random.some(['NET_ADMIN', 'SYS_TIME', 'ALL', 'CAP_X'], 0.5),
  cap_drop: random => random.some(['NET_ADMIN', 'SYS_TIME', 'ALL'], 0.5),
  cgroup: random => random.pick(['host', 'private']),
  cgroup_parent: word,
  command: commandLine,
  configs: (random, world) => fileMount(random, world.configs),
  cpu_count: random => random.int(1, 4),
  cpu_percent: random => random.pick([10, 50.5]),
  cpu_period: random => random.pick([100000, '50000']),
  cpu_quota: random => random.pick([50000, '25000']),
  cpu_shares: random => random.pick<unknown>([512, '256']),
  cpuset: random => random.pick(['0-1', '0,2']),
  depends_on: (random, world, self) => {
    // Only earlier services, so that there is no cycle; the generator makes cycles on purpose elsewhere.
    const others = random.some(world.services.slice(0, world.services.indexOf(self)), 0.6)
    if (random.chance(0.5)) return others
    const conditions = ['service_started', 'service_healthy', 'service_completed_successfully']
    return Object.fromEntries(
      others.map(name => [
        name,
        {
          condition: random.pick(conditions),
          ...(random.chance(0.3) && { restart: yes(random) }),
          ...(random.chance(0.3) && { required: yes(random) }),
        },
      ]),
    )
  },
  deploy: random => ({
    ...(random.chance(0.2) && { mode: random.pick(['replicated', 'global']) }),
    ...(random.chance(0.3) && { replicas: count(random) }),
    ...(random.chance(0.3) && { labels: pairs(random) }),
    ...(random.chance(0.2) && { endpoint_mode: 'vip' }),
    ...(random.chance(0.4) && { resources: { limits: limits(random), reservations: limits(random) } }),
    ...(random.chance(0.2) && {
      resources: {
        reservations: { devices: [{ capabilities: ['gpu'], count: random.pick<unknown>([1, 'all', '2']) }] },
      },
    }),
    ...(random.chance(0.3) && {
      restart_policy: {
        condition: 'on-failure',
        delay: duration(random),
        max_attempts: count(random),
        window: duration(random),
      },
    }),
    ...(random.chance(0.3) && {
      placement: {
        constraints: ['node.role==worker'],
        preferences: [{ spread: 'node.labels.zone' }],
        max_replicas_per_node: 2,
      },
    }),
    ...(random.chance(0.2) && { update_config: updateConfig(random) }),
    ...(random.chance(0.2) && { rollback_config: updateConfig(random) }),
  }),
  develop: random => ({
    watch: [
      {
        path: './src',
        action: random.pick(['sync', 'sync+restart']),
        target: '/app',
        ignore: random.pick<unknown>(['node_modules/', ['a', 'b']]),
      },
      { path: 'package.json', action: 'rebuild' },
    ],
  }),
  device_cgroup_rules: () => ['c 1:3 mr'],
  devices: random =>
    random.some<unknown>(['/dev/a', '/dev/b:/dev/c', '/dev/d:/dev/e:r', { source: '/dev/f', target: '/dev/g' }], 0.5),
  dns: random => random.pick<unknown>(['8.8.8.8', ['8.8.8.8', '1.1.1.1']]),
  dns_opt: () => ['ndots:2', 'use-vc'],
  dns_search: random => random.pick<unknown>(['example.com', ['a.example.com', 'b.example.com']]),
  domainname: () => 'example.com',
  entrypoint: commandLine,
  env_file: random =>
    random.pick<unknown>([
      'one.env',
      ['one.env', 'two.env'],
      [{ path: 'two.env' }, { path: 'missing.env', required: false }],
      [{ path: 'raw.env', format: 'raw' }],
      './one.env',
    ]),
  environment: random => pairs(random),
  expose: random => random.some<unknown>(['80', 81, '82-84', '85/udp', '${PORT}'], 0.5),
  external_links: () => ['other', 'db:database'],
  extra_hosts: random =>
    random.pick<unknown>([
      ['a=1.1.1.1', 'b:2.2.2.2'],
      { a: '1.1.1.1', b: ['2.2.2.2', '::1'] },
      ['six=[2001:db8::1]', 'host.docker.internal:host-gateway'],
    ]),
  gpus: random =>
    random.pick<unknown>(['all', [{ count: 2 }], [{ driver: 'nvidia', device_ids: ['0'], capabilities: ['gpu'] }]]),
  group_add: random => random.some<unknown>(['audio', 1000, '2000'], 0.5),
  healthcheck: random => ({
    ...(random.chance(0.9) && {
      test: random.pick<unknown>([
        'curl -f http://localhost || exit 1',
        ['CMD', 'true'],
        ['CMD-SHELL', text(random)],
        ['NONE'],
      ]),
    }),
    ...(random.chance(0.5) && { interval: duration(random) }),
    ...(random.chance(0.5) && { timeout: duration(random) }),
    ...(random.chance(0.5) && { retries: count(random) }),
    ...(random.chance(0.3) && { start_period: duration(random), start_interval: duration(random) }),
    ...(random.chance(0.1) && { disable: yes(random) }),
  }),
  hostname: word,
  image: random =>
    random.pick(['nginx', 'nginx:1.27', 'registry.example.com/a/b:${TAG:-1}', 'busybox@sha256:'.padEnd(79, 'a')]),
  init: yes,
  ipc: random => random.pick(['host', 'private', 'shareable']),
  label_file: random => random.pick<unknown>(['one.env', ['one.env', './two.env']]),
  labels: random => pairs(random, { names: ['a', 'b.c/d', 'com.example.x', 'SET'] }),
  links: (random, world, self) =>
    random
      .some(world.services.slice(0, world.services.indexOf(self)), 0.5)
      .map(name => (random.chance(0.5) ? name : `${name}:alias`)),
  logging: random => ({
    driver: random.pick(['json-file', 'syslog']),
    options: { 'max-size': '10m', 'max-file': random.pick([3, '3']) },
  }),
  mac_address: () => '02:42:ac:11:65:43',
  mem_limit: bytes,
  mem_reservation: bytes,
  mem_swappiness: random => random.pick([10, '20']),
  memswap_limit: bytes,
  networks: (random, world) =>
    random.pick<() => unknown>([
      () => random.some(world.networks, 0.6),
      () => Object.fromEntries(random.some(world.networks, 0.6).map(name => [name, null])),
      () =>
        Object.fromEntries(
          random.some(world.networks, 0.6).map(name => [
            name,
            {
              ...(random.chance(0.5) && { aliases: random.list(0, 2, () => word(random)) }),
              ...(random.chance(0.3) && { ipv4_address: '10.0.0.5', priority: random.int(1, 9) }),
              ...(random.chance(0.2) && { driver_opts: { a: 1 }, link_local_ips: ['169.254.1.1'] }),
            },
          ]),
        ),
    ])(),
  oom_kill_disable: yes,
  oom_score_adj: random => random.int(-1000, 1000),
  pid: () => 'host',
  pids_limit: random => random.pick([100, '200', -1]),
  platform: () => 'linux/amd64',
  ports: random => random.list(0, 4, () => port(random)),
  post_start: random => random.list(1, 2, () => hookOf(random)),
  pre_start: random =>
    random.list(1, 2, () => ({ ...hookOf(random), ...(random.chance(0.4) && { image: 'busybox' }) })),
  pre_stop: random => random.list(1, 2, () => hookOf(random)),
  privileged: yes,
  profiles: random => random.some(['one', 'two'], 0.3),
  pull_policy: random => random.pick(['always', 'never', 'missing', 'if_not_present', 'build', 'daily', 'every_12h']),
  read_only: yes,
  restart: random => random.pick(['always', 'no', 'on-failure', 'on-failure:3', 'unless-stopped']),
  runtime: () => 'runc',
  scale: random => random.int(0, 3),
  secrets: (random, world) => fileMount(random, world.secrets),
  security_opt: () => ['no-new-privileges:true', 'label:disable'],
  shm_size: bytes,
  stdin_open: yes,
  stop_grace_period: duration,
  stop_signal: () => 'SIGUSR1',
  storage_opt: () => ({ size: '1G' }),
  sysctls: random => random.pick<unknown>([{ 'net.core.somaxconn': 1024 }, ['net.core.somaxconn=1024', 'a.b=c']]),
  tmpfs: random => random.pick<unknown>(['/run', ['/run', '/tmp:size=64m,mode=1777']]),
  tty: yes,
  ulimits: random => ({ nofile: random.pick<unknown>([100, '200', { soft: 1, hard: '2' }]), nproc: 50 }),
  user: random => random.pick(['1000:1000', 'postgres', '0']),
  userns_mode: () => 'host',
  uts: () => 'host',
  volumes: (random, world) => random.list(0, 4, index => volume(random, world, index)),
  volumes_from: (random, world, self) =>
    random
      .some(world.services.slice(0, world.services.indexOf(self)), 0.4)
      .map(name => (random.chance(0.5) ? name : `${name}:ro`)),
  working_dir: () => '/srv/app',
  'x-own': scalar,
}

/** Generators for top-level resources. */
export const resources: Readonly<Record<'volumes' | 'networks' | 'configs' | 'secrets', (random: Random) => unknown>> =
  {
    volumes: random =>
      random.pick<unknown>([
        null,
        {},
        {
          driver: 'local',
          driver_opts: {
            type: 'nfs',
            o: 'addr=10.0.0.1',
            device: 'nfs.example.com:/x',
            size: random.pick<unknown>([1, '2g']),
          },
        },
        { name: 'named-${SET}' },
        { external: true },
        { external: true, name: 'outside' },
        { labels: pairs(random) },
        { driver: 'local', driver_opts: { type: 'none', o: 'bind', device: './bound' } },
      ]),
    networks: random =>
      random.pick<unknown>([
        null,
        {},
        { driver: 'bridge', driver_opts: { 'com.example.mtu': 1450 } },
        { external: true, name: 'outside' },
        { internal: yes(random), attachable: yes(random), enable_ipv6: yes(random) },
        {
          ipam: {
            driver: 'default',
            config: [{ subnet: '172.28.0.0/16', gateway: '172.28.5.254', aux_addresses: { a: '172.28.1.5' } }],
          },
        },
        { name: 'named', labels: pairs(random) },
      ]),
    configs: random =>
      random.pick<unknown>([
        { file: './one.env' },
        { content: text(random) },
        { environment: 'SET' },
        { external: true },
        { external: true, name: 'outside' },
        { file: '../up/file', name: 'named', labels: pairs(random) },
      ]),
    secrets: random =>
      random.pick<unknown>([
        { file: './one.env' },
        { environment: 'SET' },
        { external: true, name: 'outside' },
        { file: '~/secret', name: 'named' },
      ]),
  }
