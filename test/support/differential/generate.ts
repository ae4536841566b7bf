import { Document, isMap, stringify, visit } from 'yaml'
import { attributes, resources, type World } from './attributes.ts'
import { Random } from './random.ts'

/** A generated project: files by path below its folder, and how it is loaded. */
export interface Generated {
  readonly files: Readonly<Record<string, string>>
  /** `-f`, in order; empty: discovery. */
  readonly load: readonly string[]
  readonly profiles: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

type Model = Record<string, unknown>

/**
 * A project with one to three files, services that lean on each other, and any of the ways in which one file brings in
 * another. The same seed gives the same project.
 */
export function generate(seed: number): Generated {
  const random = new Random(seed)
  const world: World = {
    services: ['web', 'api', 'db', 'queue', 'job'].slice(0, random.int(1, 5)),
    volumes: ['data', 'cache-1'],
    networks: ['front', 'back'],
    configs: ['site', 'motd'],
    secrets: ['token', 'key'],
  }
  const files: Record<string, string> = { ...surroundings }
  const base = random.chance(0.3) ? 'docker-compose.yml' : 'compose.yaml'
  const model = project(random, world)
  if (random.chance(0.25)) includeFrom(random, model, files)
  if (random.chance(0.35)) extendFrom(random, model, world, files)
  if (random.chance(0.2)) spoil(random, model)
  files[base] = toYaml(random, model)
  if (random.chance(0.15)) files[base] += `---\n${toYaml(random, override(random, world))}`

  const load: string[] = []
  if (random.chance(0.5)) {
    const names = random.list(1, 2, index => `override-${index}.yaml`)
    for (const name of names) files[name] = toYaml(random, override(random, world))
    if (random.chance(0.3)) {
      files[base.replace(/\.(ya?ml)$/, '.override.$1')] = files['override-0.yaml']!
    } else load.push(base, ...names)
  } else if (random.chance(0.3)) load.push(base)
  return {
    files,
    load,
    profiles: random.some(['one', 'two'], 0.4),
    env: { SET: 'set', EMPTY: '', BOTH: 'shell', PORT: '8443', COUNT: '2', FLAG: 'true', HOME: '/home/nobody' },
  }
}

/** Files next to the Compose files. */
const surroundings: Readonly<Record<string, string>> = {
  '.env': 'DOTENV=from-dotenv\nBOTH=dotenv\nQUOTED="a $SET b"\nexport EXPORTED=\'x $SET\'\n',
  'one.env': 'A=one\nB="two ${SET:-x}"\n# comment\nC_D=\nPLAIN=it is # not\nBARE\n',
  'two.env': "A=second\nE.F='single $SET'\nUSES=${A}-${SET}\n",
  'raw.env': 'A="raw $SET"\nB=x # y\n',
}

function project(random: Random, world: World): Model {
  const model: Model = {}
  if (random.chance(0.3)) model.name = random.pick(['shop', 'my_shop', 'shop-${DOTENV}', 'Shop'])
  if (random.chance(0.1)) model.version = '3.8'
  if (random.chance(0.3)) model['x-common'] = { any: [1, { thing: null }] }
  model.services = Object.fromEntries(world.services.map(name => [name, service(random, world, name)]))
  for (const kind of ['volumes', 'networks', 'configs', 'secrets'] as const)
    model[kind] = Object.fromEntries(world[kind].map(name => [name, resources[kind](random)]))
  return model
}

function service(random: Random, world: World, name: string, { attributesOfEach = 5, image = true } = {}): Model {
  const names = Object.keys(attributes)
  const chosen = new Set(Array.from({ length: random.int(0, attributesOfEach * 2) }, () => random.pick(names)))
  // Two ways to say one thing, which must not contradict each other.
  for (const [one, other] of exclusive) if (chosen.has(one)) chosen.delete(other)
  const made: Model = image && !chosen.has('build') ? { image: 'busybox' } : {}
  for (const key of [...chosen].sort()) made[key] = attributes[key]!(random, world, name)
  return made
}

const exclusive: readonly (readonly [string, string])[] = [
  ['deploy', 'scale'],
  ['deploy', 'cpus'],
  ['deploy', 'mem_limit'],
  ['deploy', 'mem_reservation'],
  ['deploy', 'pids_limit'],
]

/** A file that changes some of a project: attributes again, resets and overrides, resources again. */
function override(random: Random, world: World): Model {
  const chosen = random.some(world.services, 0.6)
  const services: Model = Object.fromEntries(
    chosen.map(name => {
      const made = service(random, world, name, { attributesOfEach: 3, image: random.chance(0.2) })
      for (const key of random.some(Object.keys(made), 0.1))
        made[key] = new Tagged(random.pick(['!reset', '!override']), made[key])
      return [name, made]
    }),
  )
  if (random.chance(0.05)) services.extra = { image: 'extra' }
  const model: Model = { services }
  if (random.chance(0.2)) model.volumes = { data: { labels: { added: 'yes' } } }
  if (random.chance(0.2)) model.networks = { back: { labels: ['added=yes'] } }
  return model
}

function includeFrom(random: Random, model: Model, files: Record<string, string>): void {
  const inner = `image: included:\${TAG:-1}\n    env_file: inner.env\n    volumes: ["./here:/here", "inner-data:/data"]\n`
  files['team/compose.yaml'] = `services:\n  included:\n    ${inner}volumes:\n  inner-data:\n`
  files['team/inner.env'] = 'INNER=1\n'
  files['team/.env'] = 'TAG=of-team\nBOTH=team\n'
  files['team/more.yaml'] = `services:\n  included:\n    labels: {more: "\${BOTH}"}\n`
  model.include = random.pick<unknown>([
    ['team/compose.yaml'],
    [{ path: 'team/compose.yaml' }],
    [{ path: ['team/compose.yaml', 'team/more.yaml'] }],
    [{ path: './team/compose.yaml', env_file: 'two.env' }],
    [{ path: 'team/compose.yaml', project_directory: 'team' }],
  ])
}

function extendFrom(random: Random, model: Model, world: World, files: Record<string, string>): void {
  // Services of another file depend on no other service.
  const alone: World = { ...world, services: ['base'] }
  const plain = (name: string) => {
    const { depends_on, links, volumes_from, profiles, ...rest } = service(random, alone, name, { attributesOfEach: 3 })
    return rest
  }
  files['common/base.yaml'] = toYaml(random, {
    services: { base: plain('base'), derived: { extends: 'base', ...plain('derived') } },
  })
  files['common/one.env'] = 'A=common\n'
  files['common/two.env'] = 'A=common two\n'
  files['common/raw.env'] = 'A=common raw\n'
  for (const name of random.some(world.services, 0.4)) {
    // The services are made by project(), as mappings.
    const target = (model.services as Record<string, Model>)[name]!
    target.extends = random.pick<unknown>([
      { file: 'common/base.yaml', service: 'base' },
      { file: './common/base.yaml', service: 'derived' },
      ...(name === world.services[0] ? [] : [world.services[0], { service: world.services[0] }]),
    ])
  }
}

/**
 * Puts something that most likely does not belong there at a random place of a model: what one loader refuses, the
 * other must refuse.
 */
function spoil(random: Random, model: Model): void {
  let at: unknown = model
  for (let depth = random.int(1, 6); ; depth--) {
    const keys = at !== null && typeof at === 'object' ? Object.keys(at) : []
    const key = random.pick(keys)
    const parent = at as Record<string, unknown>
    const inner = parent[key]
    const isLeaf =
      inner === null || typeof inner !== 'object' || inner instanceof Tagged || Object.keys(inner).length === 0
    if (depth > 1 && !isLeaf) {
      at = inner
      continue
    }
    if (random.chance(0.15) && !Array.isArray(parent)) {
      delete parent[key]
      parent[random.pick([`${key}x`, key.toUpperCase(), 'x-new', ''])] = inner
    } else {
      parent[key] = random.pick<unknown>([
        ...[
          null,
          0,
          -1,
          1.5,
          true,
          '',
          'text',
          '1',
          'a:b:c:d',
          '${UNSET}',
          '${SET',
          [],
          {},
          [null],
          [1],
          ['a', 'a'],
          [['a']],
          [{}],
          { a: null },
        ],
        ...[
          { a: { b: 1 } },
          99999,
          '99999',
          '1-2-3',
          '5-3',
          '10s',
          10,
          'service:web',
          'service:nobody',
          '/',
          '.',
          '~',
          'ümlaut',
          ' ',
          '*',
          1e30,
        ],
      ])
    }
    return
  }
}

/** A value with a tag of Compose. */
class Tagged {
  readonly tag: string
  readonly value: unknown
  constructor(tag: string, value: unknown) {
    this.tag = tag
    this.value = value
  }
}

/**
 * Writes a model as YAML in one of many styles: block or flow, one kind of quotes or another, anchors for equal parts,
 * Windows' line ends.
 */
function toYaml(random: Random, model: Model): string {
  const document = new Document(untag(model), { version: '1.2' })
  tagAll(document, model)
  const flow = random.chance(0.3)
  visit(document, {
    Map: (_, node, path) => {
      if (flow && path.length > 4 && random.chance(0.5)) node.flow = true
    },
    Seq: (_, node) => {
      if (random.chance(0.2)) node.flow = true
    },
    Scalar: (key, node) => {
      if (key === 'key' || typeof node.value !== 'string' || !random.chance(0.3)) return
      node.type = random.pick(['QUOTE_DOUBLE', 'QUOTE_SINGLE'] as const)
    },
  })
  if (random.chance(0.2)) anchorFirst(document)
  const text = stringify(document, { lineWidth: 0, version: '1.1' })
  return random.chance(0.05) ? text.replaceAll('\n', '\r\n') : text
}

function untag(value: unknown): unknown {
  if (value instanceof Tagged) return untag(value.value)
  if (Array.isArray(value)) return value.map(untag)
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, untag(item)]))
  return value
}

function tagAll(document: Document, model: unknown, path: readonly string[] = []): void {
  if (model instanceof Tagged) {
    const node = document.getIn(path, true)
    if (node !== null && typeof node === 'object') (node as { tag?: string }).tag = model.tag
  } else if (model !== null && typeof model === 'object' && !Array.isArray(model)) {
    for (const [key, value] of Object.entries(model)) tagAll(document, value, [...path, key])
  }
}

/** Anchors the environment of the first service that has a mapping there, and merges it into the others. */
function anchorFirst(document: Document): void {
  const services = document.get('services')
  if (!isMap(services)) return
  const maps = services.items.flatMap(pair => {
    const environment = isMap(pair.value) ? pair.value.get('environment', true) : undefined
    return isMap(environment) ? [environment] : []
  })
  const [first, ...others] = maps
  if (first === undefined) return
  const alias = document.createAlias(first, 'environment')
  for (const other of others) if (other.tag === undefined) other.items.unshift(document.createPair('<<', alias))
}
