import { toDnsLabel } from '../../compiler/values/dns-name.ts'
import { CURRENT_FOLDER } from './shell-expansions.ts'

/** A Compose value: data that can be written as YAML. */
export type ComposeValue =
  | string
  | number
  | boolean
  | null
  | readonly ComposeValue[]
  | { readonly [key: string]: ComposeValue }

/**
 * Effect of a flag on the Compose file: for example, a value, an additional item of a list, or a named volume. `lost`
 * means that the flag has no equivalent.
 */
export type FlagEffect =
  | { readonly kind: 'set'; readonly path: readonly string[]; readonly value: ComposeValue }
  | { readonly kind: 'add'; readonly path: readonly string[]; readonly item: ComposeValue }
  | ({ readonly kind: 'volume' } & TopLevelName)
  | ({ readonly kind: 'network'; readonly aliases: readonly string[] } & TopLevelName)
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'detached' | 'removed' }
  | { readonly kind: 'lost'; readonly why: string; readonly hint?: string }

/**
 * Key of a volume or network in the Compose file. `name` is set if the name contains variables, because Compose does
 * not substitute variables in keys.
 */
export interface TopLevelName {
  readonly key: string
  readonly name?: string
}

/** A flag of `docker run`. A flag without a value is a switch. */
export interface DockerFlag {
  readonly short?: string
  readonly isSwitch?: true
  readonly effects: (value: string) => readonly FlagEffect[]
}

const set = (path: string, value: ComposeValue): FlagEffect => ({ kind: 'set', path: path.split('.'), value })
const add = (path: string, item: ComposeValue): FlagEffect => ({ kind: 'add', path: path.split('.'), item })
const lost = (why: string, hint?: string): FlagEffect => ({ kind: 'lost', why, ...(hint !== undefined && { hint }) })

const sets = (path: string, short?: string): DockerFlag => ({
  ...(short !== undefined && { short }),
  effects: value => [set(path, value)],
})
const adds = (path: string, short?: string): DockerFlag => ({
  ...(short !== undefined && { short }),
  effects: value => [add(path, value)],
})
const turnsOn = (path: string, short?: string): DockerFlag => ({
  ...(short !== undefined && { short }),
  isSwitch: true,
  effects: value => [set(path, value.includes('$') ? value : isOn(value))],
})
/** Returns a flag without a value that has the given effects only if it is on. */
const switches = (effects: readonly FlagEffect[], short?: string): DockerFlag => ({
  ...(short !== undefined && { short }),
  isSwitch: true,
  effects: value => (isOn(value) ? effects : []),
})
/** True unless the value of a switch is one of those that Go reads as false. */
const isOn = (value: string): boolean => !OFF.has(value)
const OFF = new Set('0 f F false False FALSE'.split(' '))
/** Returns a flag that has no effect on the service, because it is about the client or the machine. */
const ignored = (isSwitch: boolean, short?: string): DockerFlag => ({
  ...(short !== undefined && { short }),
  ...(isSwitch && { isSwitch: true as const }),
  effects: () => [],
})
const loses = (why: string, hint?: string): DockerFlag => ({ effects: () => [lost(why, hint)] })

const numeric = (value: string): ComposeValue => (/^-?\d+$/.test(value) ? Number(value) : value)
const setsNumber = (path: string): DockerFlag => ({ effects: value => [set(path, numeric(value))] })

/** Replaces `container:NAME`, which means the namespace of another container, with `service:NAME`. */
const ofContainer = (value: string): string => value.replace(/^container:/, 'service:')

const noDeviceLimit = 'Kubernetes does not limit a device'
const ofOnePod = 'a Pod has one network interface, with a new address at every start'
const noVariableName = lost('Compose substitutes no variables in names', 'write the name')
const entryOf = (path: string, separator = '='): ((value: string) => readonly FlagEffect[]) => {
  return text => {
    const at = text.indexOf(separator)
    const [name, value] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)]
    if (name.includes('$')) return [noVariableName]
    return [{ kind: 'set', path: [...path.split('.'), name], value }]
  }
}

/** The flags of `docker run`, and of the compatible commands of podman and nerdctl, by their long names. */
export const DOCKER_FLAGS: Readonly<Record<string, DockerFlag>> = {
  'add-host': adds('extra_hosts'),
  annotation: { effects: entryOf('annotations') },
  attach: ignored(false, 'a'),
  'blkio-weight': { effects: value => [set('blkio_config.weight', numeric(value))] },
  'blkio-weight-device': loses(noDeviceLimit),
  'cap-add': adds('cap_add'),
  'cap-drop': adds('cap_drop'),
  'cgroup-parent': sets('cgroup_parent'),
  cgroupns: sets('cgroup'),
  cidfile: ignored(false),
  'cpu-count': setsNumber('cpu_count'),
  'cpu-percent': setsNumber('cpu_percent'),
  'cpu-period': sets('cpu_period'),
  'cpu-quota': sets('cpu_quota'),
  'cpu-rt-period': setsNumber('cpu_rt_period'),
  'cpu-rt-runtime': setsNumber('cpu_rt_runtime'),
  'cpu-shares': { short: 'c', effects: value => [set('cpu_shares', numeric(value))] },
  cpus: sets('deploy.resources.limits.cpus'),
  'cpuset-cpus': sets('cpuset'),
  'cpuset-mems': loses('Kubernetes does not choose memory nodes for a container'),
  detach: switches([{ kind: 'detached' }], 'd'),
  'detach-keys': ignored(false),
  device: adds('devices'),
  'device-cgroup-rule': adds('device_cgroup_rules'),
  'device-read-bps': loses(noDeviceLimit),
  'device-read-iops': loses(noDeviceLimit),
  'device-write-bps': loses(noDeviceLimit),
  'device-write-iops': loses(noDeviceLimit),
  'disable-content-trust': ignored(true),
  dns: adds('dns'),
  'dns-option': adds('dns_opt'),
  'dns-opt': adds('dns_opt'),
  'dns-search': adds('dns_search'),
  domainname: sets('domainname'),
  entrypoint: { effects: value => [set('entrypoint', value === '' ? [] : [value])] },
  env: { short: 'e', effects: environment },
  'env-file': { effects: path => [add('env_file', fromFolder(path))] },
  expose: adds('expose'),
  gpus: { effects: gpus },
  'group-add': adds('group_add'),
  'health-cmd': sets('healthcheck.test'),
  'health-interval': sets('healthcheck.interval'),
  'health-retries': { effects: value => [set('healthcheck.retries', numeric(value))] },
  'health-start-interval': sets('healthcheck.start_interval'),
  'health-start-period': sets('healthcheck.start_period'),
  'health-timeout': sets('healthcheck.timeout'),
  help: ignored(true),
  hostname: sets('hostname', 'h'),
  init: turnsOn('init'),
  interactive: turnsOn('stdin_open', 'i'),
  'io-maxbandwidth': loses(noDeviceLimit),
  'io-maxiops': loses(noDeviceLimit),
  ip: loses(ofOnePod, 'reach the service by its name'),
  ip6: loses(ofOnePod, 'reach the service by its name'),
  ipc: { effects: value => [set('ipc', ofContainer(value))] },
  isolation: sets('isolation'),
  'kernel-memory': loses('Kubernetes does not limit the memory of the kernel'),
  label: { short: 'l', effects: entryOf('labels') },
  'label-file': loses('the file is not read', 'write its lines under `labels`'),
  link: adds('links'),
  'link-local-ip': loses(ofOnePod),
  'log-driver': sets('logging.driver'),
  'log-opt': { effects: entryOf('logging.options') },
  'mac-address': sets('mac_address'),
  memory: sets('deploy.resources.limits.memory', 'm'),
  'memory-reservation': sets('deploy.resources.reservations.memory'),
  'memory-swap': sets('memswap_limit'),
  'memory-swappiness': { effects: value => [set('mem_swappiness', numeric(value))] },
  mount: { effects: mount },
  name: { effects: name => [{ kind: 'name', name }] },
  network: { effects: network },
  net: { effects: network },
  'network-alias': { effects: value => [{ kind: 'add', path: ['networks', '', 'aliases'], item: value }] },
  'net-alias': { effects: value => [{ kind: 'add', path: ['networks', '', 'aliases'], item: value }] },
  'no-healthcheck': switches([set('healthcheck.disable', true)]),
  'oom-kill-disable': turnsOn('oom_kill_disable'),
  'oom-score-adj': { effects: value => [set('oom_score_adj', numeric(value))] },
  pid: { effects: value => [set('pid', ofContainer(value))] },
  'pids-limit': { effects: value => [set('pids_limit', numeric(value))] },
  platform: sets('platform'),
  privileged: turnsOn('privileged'),
  publish: adds('ports', 'p'),
  'publish-all': switches([lost('the ports of the image are not known here', 'list them under `ports`')], 'P'),
  pull: { effects: value => [set('pull_policy', value)] },
  quiet: ignored(true, 'q'),
  'read-only': turnsOn('read_only'),
  replace: ignored(true),
  restart: sets('restart'),
  rm: switches([{ kind: 'removed' }]),
  runtime: sets('runtime'),
  'security-opt': adds('security_opt'),
  'shm-size': sets('shm_size'),
  'sig-proxy': ignored(true),
  'stop-signal': sets('stop_signal'),
  'stop-timeout': { effects: value => [set('stop_grace_period', `${value}s`)] },
  'storage-opt': { effects: entryOf('storage_opt') },
  sysctl: { effects: entryOf('sysctls') },
  tmpfs: adds('tmpfs'),
  tty: turnsOn('tty', 't'),
  ulimit: { effects: ulimit },
  'use-api-socket': switches([lost('a Pod has no Docker socket')]),
  user: sets('user', 'u'),
  userns: sets('userns_mode'),
  uts: sets('uts'),
  volume: { short: 'v', effects: volume },
  'volume-driver': loses(
    'the driver of a volume is a storage class',
    'write `driver_opts: {class: NAME}` at the volume',
  ),
  'volumes-from': adds('volumes_from'),
  workdir: sets('working_dir', 'w'),
}

function environment(text: string): readonly FlagEffect[] {
  const at = text.indexOf('=')
  const name = at < 0 ? text : text.slice(0, at)
  if (name.includes('$')) return [noVariableName]
  return [{ kind: 'set', path: ['environment', name], value: at < 0 ? null : text.slice(at + 1) }]
}

/** Replaces the current folder at the start of a path with `.`, and returns other paths unchanged. */
function fromFolder(path: string): string {
  const rest = path.startsWith(CURRENT_FOLDER) ? path.slice(CURRENT_FOLDER.length) : undefined
  return rest !== undefined && /^(?:[/\\:]|$)/.test(rest) ? `.${rest}` : path
}

/**
 * Matches a variable in braces with its operator and operand, such as `${TAG:-latest}`. The operand may contain further
 * variables.
 */
const VARIABLE = /\$\{(\w+)(?:[^{}]|\{[^{}]*\})*\}/
const VARIABLES = new RegExp(VARIABLE, 'g')

/**
 * Returns the key and name of a volume or network. In the key, each variable is replaced with its name: `data-${USER}`
 * gets the key `data-USER`.
 */
function topLevel(name: string): TopLevelName {
  if (!name.includes('$')) return { key: name }
  const key = name.replace(VARIABLES, '$1').replace(/[^\w.-]+/g, '-')
  return { key: /^[A-Za-z0-9]/.test(key) ? key : toDnsLabel(key), name }
}

/** Matches the source of `SOURCE:PATH`. */
const SOURCE = new RegExp(`^([A-Za-z]:[\\\\/][^:]*|(?:${VARIABLE.source}|[^:])*):`)

/** Converts `SOURCE:PATH[:MODE]`. A source that is not a path is a named volume. */
function volume(value: string): readonly FlagEffect[] {
  const text = fromFolder(value)
  const source = SOURCE.exec(text)?.[1]
  if (source === undefined) return [add('volumes', text)]
  if (/^(?:[./~]|\$\{|[A-Za-z]:[\\/])/.test(source)) return [add('volumes', text)]
  const named = topLevel(source)
  return [add('volumes', named.key + text.slice(source.length)), { kind: 'volume', ...named }]
}

function mount(text: string): readonly FlagEffect[] {
  const fields = new Map(
    text.split(',').map(field => {
      const at = field.indexOf('=')
      return at < 0 ? ([field, 'true'] as const) : ([field.slice(0, at), field.slice(at + 1)] as const)
    }),
  )
  const first = (...names: readonly string[]) => names.map(name => fields.get(name)).find(one => one !== undefined)
  const type = first('type') ?? 'volume'
  const source = first('source', 'src')
  const target = first('target', 'dst', 'destination')
  if (!['bind', 'volume', 'tmpfs'].includes(type) || target === undefined)
    return [lost(target === undefined ? 'it has no `target`' : `a mount of type \`${type}\` has no equivalent`)]
  const isReadOnly = /^(?:true|1)$/.test(first('readonly', 'ro') ?? 'false')
  const subpath = first('volume-subpath')
  const size = first('tmpfs-size')
  const volume = type === 'volume' && source !== undefined ? topLevel(source) : undefined
  const item: ComposeValue = {
    type,
    ...(source !== undefined && { source: volume?.key ?? fromFolder(source) }),
    target,
    ...(isReadOnly && { read_only: true }),
    ...(subpath !== undefined && { volume: { subpath } }),
    ...(size !== undefined && { tmpfs: { size: numeric(size) } }),
  }
  const named = volume ? [{ kind: 'volume' as const, ...volume }] : []
  const others = [...fields.keys()].filter(field => !MOUNT_FIELDS.has(field))
  return [add('volumes', item), ...named, ...others.map(field => lost(`\`${field}\` has no equivalent`))]
}

/** Fields of `--mount` that are carried over, or have no effect on Linux, such as `consistency`. */
const MOUNT_FIELDS = new Set(
  'type source src target dst destination readonly ro volume-subpath tmpfs-size consistency'.split(' '),
)

function network(text: string): readonly FlagEffect[] {
  if (!/(?:^|,)name=/.test(text)) return networkCalled(text)
  const fields = text.split(',').map(field => field.split(/=(.*)/s, 2) as [string, string?])
  const valuesOf = (field: string) => fields.flatMap(([name, value = '']) => (name === field ? [value] : []))
  const others = fields.filter(([field]) => field !== 'name' && field !== 'alias')
  return [
    ...networkCalled(valuesOf('name')[0]!, valuesOf('alias')),
    ...others.map(([field]) => lost(`\`${field}\`: ${ofOnePod}`)),
  ]
}

function networkCalled(text: string, aliases: readonly string[] = []): readonly FlagEffect[] {
  if (text === 'bridge' || text === 'default')
    return aliases.map(item => ({ kind: 'add', path: ['networks', '', 'aliases'], item }))
  if (text === 'host' || text === 'none') return [set('network_mode', text)]
  if (text.startsWith('container:')) return [set('network_mode', ofContainer(text))]
  return [{ kind: 'network', ...topLevel(text), aliases }]
}

/** Converts `all`, a number, or fields such as `device=0`. A field in quotes may contain commas: `"device=0,1"`. */
function gpus(text: string): readonly FlagEffect[] {
  if (text === 'all') return [set('gpus', 'all')]
  const fields = [...text.matchAll(GPU_FIELD)].map(([field]) => field.replaceAll('"', ''))
  const entries = fields.map(field => (/^(?:all|\d+)$/.test(field) ? ['count', field] : field.split(/=(.*)/s, 2)))
  const known = entries.flatMap(([name = '', value = '']) => {
    const read = GPU_FIELDS[name]
    return read ? [read(value)] : []
  })
  const others = entries.filter(([name = '']) => !GPU_FIELDS[name])
  const request = known.length > 0 ? [set('gpus', [Object.assign({}, ...known)])] : []
  return [...request, ...others.map(([name]) => lost(`\`${name}\` is not \`all\`, a number or a field of a request`))]
}

/**
 * Matches one field of `--gpus`. Numbers that follow `device=` are further devices of the same field, even without
 * quotes: `device=0,1`.
 */
const GPU_FIELD = /"[^"]*"|device=[^",]+(?:,\d+(?=,|$))*|[^",]+/g
/** Keys of a request for GPUs in Compose, by the fields of `--gpus`. */
const GPU_FIELDS: Readonly<Record<string, (value: string) => { readonly [key: string]: ComposeValue }>> = {
  device: value => ({ device_ids: value.split(',') }),
  count: value => ({ count: numeric(value) }),
  driver: value => ({ driver: value }),
  capabilities: value => ({ capabilities: value.split(',') }),
}

function ulimit(text: string): readonly FlagEffect[] {
  const [, name, soft, hard] = /^([\w-]+)=(-?\d+)(?::(-?\d+))?$/.exec(text) ?? []
  if (name === undefined || soft === undefined) return [lost('it is not `NAME=SOFT[:HARD]`')]
  const value = hard === undefined ? Number(soft) : { soft: Number(soft), hard: Number(hard) }
  return [{ kind: 'set', path: ['ulimits', name], value }]
}
