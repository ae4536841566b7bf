import { stringify } from 'yaml'
import { attributes, type Make, resources, type World } from '../differential/attributes.ts'
import { Random } from '../differential/random.ts'

/** A generated project: what goes into compose.yaml, and the files beside it. */
export interface OddProject {
  readonly files: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
}

type Model = Record<string, unknown>

const world: World = {
  services: ['web', 'api'],
  volumes: ['data', 'cache-1'],
  networks: ['front', 'back'],
  configs: ['site', 'motd'],
  secrets: ['token', 'key'],
}

/**
 * A small project in which a few values, keys or items are odd: empty, huge, negative, of foreign letters, paths that
 * climb. Most attributes of the dialect come up in time. The same seed gives the same project.
 */
export function oddProject(seed: number): OddProject {
  const random = new Random(seed)
  const model: Model = {
    services: Object.fromEntries(
      world.services.slice(0, random.int(1, 2)).map(name => [name, service(random, name)] as const),
    ),
  }
  for (const kind of ['volumes', 'networks', 'configs', 'secrets'] as const)
    model[kind] = Object.fromEntries(world[kind].map(name => [name, resources[kind](random)]))
  if (random.chance(0.2)) model.endpoints = endpoints(random)
  const places = placesOf(model)
  for (let count = random.int(1, 2); count > 0; count--) spoil(random, random.pick(places))
  const text = stringify(model, { aliasDuplicateObjects: false, lineWidth: 0, version: '1.1' })
  return {
    files: { ...surroundings, 'compose.yaml': text },
    env: { SET: 'set', EMPTY: '', BOTH: 'shell', PORT: '8443', COUNT: '2', FLAG: 'true', HOME: '/home/nobody' },
  }
}

const surroundings: Readonly<Record<string, string>> = {
  'one.env': 'A=one\nC_D=\n',
  'two.env': 'A=second\n',
  'raw.env': 'A="raw"\n',
  'src/index.html': '<p>\n',
  'src/deep/file name.txt': 'text\n',
}

/**
 * Attributes of the dialect, and ways to write those of Compose that the comparison with the reference has no use for.
 */
const dialect: Readonly<Record<string, Make>> = {
  'x-node-selector': () => ({ disktype: 'ssd' }),
  resources: () => ({ requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '1', memory: '128Mi' } }),
  healthcheck: random => ({
    ...random.pick<Model>([{ test: ['CMD', 'true'] }, { http: { path: '/healthz', port: 8080 } }]),
    interval: '10s',
    timeout: '2s',
    retries: 3,
    start_period: '5s',
    'x-platform-liveness': true,
  }),
  volumes: () => [
    { type: 'volume', source: 'data', target: '/data', volume: { subpath: 'sub', labels: { a: 'b' } } },
    { type: 'bind', source: './src', target: '/src', read_only: true },
    { type: 'tmpfs', target: '/tmp', tmpfs: { size: '64m' } },
    '/anonymous',
  ],
  ports: () => [
    '8080:80',
    { target: 81, published: '8081', protocol: 'tcp', name: 'admin', app_protocol: 'http' },
    '53:53/udp',
  ],
  configs: () => [{ source: 'site', target: '/etc/site', mode: '0440' }],
  secrets: () => [{ source: 'token', target: 'token', mode: '0400' }],
  extra_hosts: () => ({ 'a.example.com': '1.1.1.1' }),
  sysctls: () => ({ 'net.core.somaxconn': '1024' }),
  deploy: () => ({
    replicas: 2,
    update_config: { parallelism: 1, order: 'start-first', monitor: '5s', delay: '1s' },
    placement: {
      constraints: ['node.labels.zone == a', 'node.hostname != b'],
      preferences: [{ spread: 'node.labels.zone' }],
    },
    resources: {
      limits: { cpus: '0.5', memory: '64M', pids: 10 },
      reservations: {
        cpus: '0.1',
        memory: '32M',
        generic_resources: [{ discrete_resource_spec: { kind: 'x', value: 1 } }],
      },
    },
  }),
  security_opt: () => ['seccomp=profile.json', 'apparmor=profile', 'label=type:svirt_t'],
  tmpfs: () => ['/run:size=64m,mode=1777'],
  runtime: () => 'kata',
  hostname: () => 'host',
  labels: () => ({ 'example.com/a': 'b', 'dev.platform/update': 'rolling' }),
  stop_grace_period: () => '10s',
  networks: () => ({ front: { aliases: ['www'] } }),
  external_links: () => ['other.example.com:elsewhere'],
  container_name: () => 'one-name',
  dns_opt: () => ['ndots:2'],
  depends_on: () => ({}),
}

function service(random: Random, name: string): Model {
  const made: Model = { image: 'busybox:1' }
  const of = (table: Readonly<Record<string, Make>>, count: number) => {
    const names = Object.keys(table).filter(key => key !== 'build' && key !== 'profiles')
    for (let at = 0; at < count; at++) {
      const key = random.pick(names)
      made[key] = table[key]!(random, world, name)
    }
  }
  of(attributes, random.int(0, 2))
  of(dialect, random.int(0, 2))
  return made
}

const endpoints = (random: Random): unknown => {
  const rules = [{ path: '/', service: 'web', port: 8080 }]
  return random.pick<unknown>([rules, { shop: rules }, { labels: { 'example.com/a': 'b' }, rules }])
}

/** A place in a model: a key of a mapping or an index of a list. */
interface At {
  readonly parent: Model
  readonly key: string
}

function placesOf(value: unknown): readonly At[] {
  if (value === null || typeof value !== 'object') return []
  // Lists are changed by their indexes, like mappings by their keys.
  const parent = value as Model
  return Object.keys(parent).flatMap(key => [{ parent, key }, ...placesOf(parent[key])])
}

function spoil(random: Random, { parent, key }: At): void {
  const value = parent[key]
  if (Array.isArray(parent) && random.chance(0.15)) {
    parent.push(random.chance(0.5) ? value : odd(random, value))
  } else if (!Array.isArray(parent) && random.chance(0.25)) {
    delete parent[key]
    parent[oddText(random, key)] = value
  } else parent[key] = value !== null && typeof value === 'object' ? value : odd(random, value)
}

const odd = (random: Random, value: unknown): unknown =>
  typeof value === 'number' && random.chance(0.7) ? oddNumber(random) : oddText(random, String(value ?? ''))

const oddNumber = (random: Random): number =>
  random.pick([0, -1, 1, 0.5, 7, 1e3, 65_535, 65_536, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 1e30, 1e-9])

/** Text that is odd, or made odd of a text that was right. */
function oddText(random: Random, text: string): string {
  const at = random.int(0, text.length)
  const insert = random.pick([
    ...['..', '/', '//', '/../', '.', '-', '_', ':', '::', ' ', '  ', '=', ',', ';', '$$', '$$(X)', '%', '#', '@', '*'],
    ...[
      'A',
      'ü',
      '✓',
      '\u0001',
      '\u00a0',
      '\u202e',
      '\t',
      '\n',
      '\\',
      '"',
      "'",
      '`',
      '0',
      '00',
      '9'.repeat(20),
      '[',
      '{',
      '~',
    ],
  ])
  return random.pick<() => string>([
    () => text.slice(0, at) + insert + text.slice(at),
    () => text.slice(0, at) + insert + text.slice(at),
    () => insert + text,
    () => text + insert,
    () => text.toUpperCase(),
    () => text + random.pick(['a', 'b.', '-x', '/y']).repeat(random.pick([16, 32, 64, 128, 300])),
    () => insert,
    () => text.slice(1),
    () => random.pick(['', ' ', '.', '..', '../x', 'a/../b', '/', '-x', 'x_y', 'x-', '0', '-1', '1e3', '0x10', 'true']),
    () => 'x'.repeat(random.pick([15, 16, 63, 64, 253, 254, 1024, 4096, 300_000])),
  ])()
}
