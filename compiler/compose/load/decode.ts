import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import { type Entry, isMap, type MapTree, type ScalarTree, scalarTree, type Tree } from '../../text/tree.ts'
import { parseAddresses, parseExtraHost } from '../../values/hosts.ts'
import {
  asIs,
  bytes,
  type Codec,
  type CodecContext,
  count,
  cpus,
  duration,
  environment,
  fileMode,
  flag,
  integer,
  item,
  labels,
  list,
  mapOf,
  microseconds,
  nullOr,
  optionalCount,
  optionalDuration,
  optionalFlag,
  optionalInteger,
  options,
  optOut,
  ratio,
  record,
  secondsOrDuration,
  text,
  texts,
  words,
} from './codec.ts'
import { scalarText } from './tree-text.ts'

const badHost = diagnostic({
  code: 'extra-hosts/bad-entry',
  severity: 'error',
  explain:
    'An entry of `extra_hosts` is `HOST=ADDRESS`, with several addresses separated by commas: `db=10.0.0.7`, `v6=::1`.',
  text: (p: { text: string; reason: string; hint?: string | undefined }) => ({
    message: `bad host \`${p.text}\`: ${p.reason}`,
    hint: p.hint,
  }),
})
const badCount = diagnostic({
  code: 'gpus/bad-count',
  severity: 'error',
  explain:
    'A device count is a whole number, or `all`. A Pod cannot request all devices of a node: `all` becomes one, with a warning.',
  text: (p: { text: string }) => ({
    message: `\`${p.text}\` is not a valid device count`,
    hint: 'write a number, or `all`',
  }),
})

/**
 * Gives a canonical model the values that `docker compose config --format json` prints (durations as Go's, sizes in bytes, words of commands), typed as
 * there and without what is empty there; the dialect's own keys stay (compose-spec.md 1.17). Names what could not be read, as `volumes.data`, and the keys of services.
 */
export function decodeModel(
  model: MapTree,
  reporter: Reporter,
): {
  readonly model: MapTree
  readonly broken: readonly string[]
  readonly lost: ReadonlyMap<string, readonly string[]>
} {
  const broken: string[] = []
  const lost = new Map<string, readonly string[]>()
  const entries = new Map<string, Entry>()
  for (const [section, entry] of model.entries) {
    const codec = SECTIONS[section]
    if (!codec || !isMap(entry.value)) {
      entries.set(section, entry)
      continue
    }
    const decoded = new Map<string, Entry>()
    for (const [name, { key, value }] of entry.value.entries) {
      const context: CodecContext = { reporter, failed: false }
      const result = codec(isMap(value) ? value : { kind: 'map', span: value.span, entries: new Map() }, context)
      if (!result || (context.failed && section !== 'services')) {
        broken.push(`${section}.${name}`)
        continue
      }
      if (context.failed && isMap(value) && isMap(result))
        lost.set(
          name,
          [...value.entries.keys()].filter(one => !result.entries.has(one)),
        )
      decoded.set(name, { key, value: result })
    }
    entries.set(section, { key: entry.key, value: { ...entry.value, entries: decoded } })
  }
  return { model: { ...model, entries }, broken, lost }
}

const nothing = (tree: Tree): ScalarTree => scalarTree(tree.span, null)
const emptyMap = (tree: Tree): MapTree => ({ kind: 'map', span: tree.span, entries: new Map() })

const extraHosts: Codec = (tree, context) => {
  const found: { readonly text: string; readonly tree: Tree }[] = []
  const fail = (at: Tree, written: string, reason: string, hint?: string) => {
    context.reporter.report(badHost, at.span, { text: written, reason, hint })
    context.failed = true
  }
  if (isMap(tree)) {
    for (const [host, { key, value }] of tree.entries) {
      if (host === '' || /[:=]/.test(host)) fail({ ...value, span: key }, host, 'it is not a valid host name')
      for (const address of value.kind === 'seq' ? value.items : [value])
        if (address.kind === 'scalar')
          found.push({ text: `${host}=${parseAddresses(scalarText(address)).join(',')}`, tree: address })
    }
  } else if (tree.kind === 'seq') {
    for (const entry of tree.items) {
      if (entry.kind !== 'scalar') continue
      const parsed = parseExtraHost(scalarText(entry))
      if (parsed.ok)
        for (const address of parsed.value.addresses)
          found.push({ text: `${parsed.value.host}=${address}`, tree: entry })
      else fail(entry, scalarText(entry), parsed.reason, parsed.hint)
    }
  }
  if (found.length === 0) return undefined
  found.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
  return { kind: 'seq', span: tree.span, items: found.map(({ text, tree: from }) => scalarTree(from.span, text)) }
}

const deviceCount: Codec = (tree, context) => {
  if (tree.kind !== 'scalar') return undefined
  const written = scalarText(tree)
  const value = /^all$/i.test(written) ? -1 : /^[-+]?\d+$/.test(written) ? Number(written) : undefined
  if (value === undefined) {
    context.reporter.report(badCount, tree.span, { text: written })
    context.failed = true
    return undefined
  }
  return value === 0 ? undefined : scalarTree(tree.span, value)
}

const healthTest: Codec = (tree, context) => {
  if (tree.kind !== 'scalar') return texts(tree, context)
  if (tree.type === 'null') return undefined
  return { kind: 'seq', span: tree.span, items: [scalarTree(tree.span, 'CMD-SHELL'), tree] }
}

const ulimit: Codec = (tree, context) =>
  tree.kind === 'scalar'
    ? (integer(tree, context) ?? emptyMap(tree))
    : record({ soft: integer, hard: integer })(tree, context)

const sshKeys: Codec = tree =>
  isMap(tree) && tree.entries.size > 0
    ? {
        kind: 'seq',
        span: tree.span,
        items: [...tree.entries].map(([id, { key, value }]) => {
          const path = value.kind === 'scalar' ? scalarText(value) : ''
          return scalarTree(key, path === '' ? id : `${id}=${path}`)
        }),
      }
    : undefined

const fileMounts = list(record({ source: text, target: text, uid: text, gid: text, mode: fileMode }))
const hookCommand = { command: nothing }
const hook = record({ command: words, user: text, privileged: flag, working_dir: text, environment }, hookCommand)
const deviceRequests = list(
  record({ capabilities: texts, driver: text, count: deviceCount, device_ids: texts, options }),
)
const emptyText = (tree: Tree): ScalarTree => scalarTree(tree.span, '')
const throttles = list(
  record({ path: text, rate: bytes }, { path: emptyText, rate: tree => scalarTree(tree.span, '0') }),
)
const weights = list(
  record({ path: text, weight: integer }, { path: emptyText, weight: tree => scalarTree(tree.span, 0) }),
)

const CONTAINER: Readonly<Record<string, Codec>> = {
  annotations: labels,
  blkio_config: record({
    weight: integer,
    weight_device: weights,
    device_read_bps: throttles,
    device_read_iops: throttles,
    device_write_bps: throttles,
    device_write_iops: throttles,
  }),
  cap_add: texts,
  cap_drop: texts,
  cgroup: text,
  cgroup_parent: text,
  command: words,
  configs: fileMounts,
  cpu_count: integer,
  cpu_percent: ratio,
  cpu_period: integer,
  cpu_quota: integer,
  cpu_rt_period: microseconds,
  cpu_rt_runtime: microseconds,
  cpu_shares: integer,
  cpus,
  cpuset: text,
  credential_spec: record({ config: text, file: text, registry: text }),
  device_cgroup_rules: texts,
  devices: list(record({ source: text, target: text, permissions: text })),
  dns: texts,
  dns_opt: texts,
  dns_search: texts,
  domainname: text,
  entrypoint: words,
  environment,
  // Read and taken out again when the variables are known.
  env_file: list(record({ path: item, format: text, required: optionalFlag })),
  extra_hosts: extraHosts,
  gpus: deviceRequests,
  group_add: texts,
  hostname: text,
  image: text,
  init: optionalFlag,
  ipc: text,
  isolation: text,
  label_file: texts,
  labels,
  logging: record({ driver: text, options }),
  mac_address: text,
  mem_limit: bytes,
  mem_reservation: bytes,
  mem_swappiness: bytes,
  memswap_limit: bytes,
  models: mapOf(nullOr(record({ endpoint_var: text, model_var: text }))),
  network_mode: text,
  networks: mapOf(
    nullOr(
      record({
        aliases: texts,
        driver_opts: options,
        gw_priority: integer,
        interface_name: text,
        ipv4_address: text,
        ipv6_address: text,
        link_local_ips: texts,
        mac_address: text,
        priority: integer,
        use_service_name_alias: optionalFlag,
      }),
    ),
  ),
  oom_kill_disable: flag,
  oom_score_adj: integer,
  pid: text,
  pids_limit: integer,
  platform: text,
  privileged: flag,
  pull_policy: text,
  pull_refresh_after: text,
  read_only: flag,
  runtime: text,
  secrets: fileMounts,
  security_opt: texts,
  shm_size: bytes,
  stop_grace_period: secondsOrDuration,
  stop_signal: text,
  storage_opt: options,
  sysctls: labels,
  tmpfs: texts,
  ulimits: mapOf(ulimit),
  umask: optionalInteger,
  use_api_socket: flag,
  user: text,
  userns_mode: text,
  uts: text,
  volumes: list(
    record({
      type: text,
      source: text,
      target: text,
      read_only: flag,
      consistency: text,
      bind: record({ selinux: text, propagation: text, create_host_path: optOut, recursive: text }),
      volume: record({ labels, nocopy: flag, subpath: text }),
      tmpfs: record({ size: bytes, mode: integer }),
      image: record({ subpath: text }),
      'x-mount': text,
    }),
  ),
  volumes_from: texts,
  working_dir: text,
}

const update = record({
  parallelism: optionalCount,
  delay: duration,
  failure_action: text,
  monitor: duration,
  max_failure_ratio: ratio,
  order: text,
})
const resource = record({
  cpus,
  memory: bytes,
  pids: integer,
  devices: deviceRequests,
  generic_resources: list(
    record({
      discrete_resource_spec: record(
        { kind: text, value: optionalInteger },
        { kind: emptyText, value: tree => scalarTree(tree.span, 0) },
      ),
    }),
  ),
})

const DEPLOY = record(
  {
    mode: text,
    replicas: optionalInteger,
    labels,
    update_config: update,
    rollback_config: update,
    resources: record({ limits: resource, reservations: resource }),
    restart_policy: record({
      condition: text,
      delay: optionalDuration,
      max_attempts: optionalCount,
      window: optionalDuration,
    }),
    placement: record({
      constraints: texts,
      preferences: list(record({ spread: text })),
      max_replicas_per_node: count,
    }),
    endpoint_mode: text,
  },
  { resources: emptyMap, placement: emptyMap },
)

const BUILD = record({
  context: text,
  dockerfile: text,
  dockerfile_inline: text,
  entitlements: texts,
  args: environment,
  provenance: text,
  sbom: text,
  ssh: sshKeys,
  labels,
  cache_from: texts,
  cache_to: texts,
  no_cache: flag,
  no_cache_filter: texts,
  additional_contexts: labels,
  pull: flag,
  extra_hosts: extraHosts,
  isolation: text,
  network: text,
  target: text,
  secrets: fileMounts,
  shm_size: bytes,
  tags: texts,
  ulimits: mapOf(ulimit),
  platforms: texts,
  privileged: flag,
  export_cache: text,
})

const DEVELOP = record({
  watch: list(
    record(
      { path: text, action: text, target: text, exec: hook, include: texts, ignore: texts, initial_sync: flag },
      {
        exec: tree => ({
          kind: 'map',
          span: tree.span,
          entries: new Map([['command', { key: tree.span, value: nothing(tree) }]]),
        }),
      },
    ),
  ),
})

/** A provider's options may be given once or several times: always printed as lists. */
const providerOptions: Codec = mapOf((tree, context) => list()(tree, context))

const SERVICE = record(
  {
    ...CONTAINER,
    attach: optionalFlag,
    build: BUILD,
    container_name: text,
    depends_on: mapOf(record({ condition: text, restart: flag, required: optionalFlag })),
    deploy: (tree, context) => (isMap(tree) ? DEPLOY(tree, context) : undefined),
    develop: (tree, context) => (isMap(tree) ? DEVELOP(tree, context) : undefined),
    expose: texts,
    // Left only where the service that is extended is empty, as in the reference.
    extends: record({ service: text, file: text }),
    external_links: texts,
    healthcheck: record({
      test: healthTest,
      timeout: optionalDuration,
      interval: optionalDuration,
      retries: optionalCount,
      start_period: optionalDuration,
      start_interval: optionalDuration,
      disable: flag,
      http: asIs,
      'x-platform-readiness': asIs,
      'x-platform-liveness': asIs,
    }),
    links: texts,
    ports: list(
      record({
        name: text,
        mode: text,
        host_ip: text,
        target: integer,
        published: text,
        protocol: text,
        app_protocol: text,
        'x-host': asIs,
        'x-expose': asIs,
      }),
    ),
    post_start: list(hook),
    pre_start: list(record({ ...CONTAINER, per_replica: flag }, { command: nothing, entrypoint: nothing })),
    pre_stop: list(hook),
    profiles: texts,
    provider: record({ type: text, options: providerOptions }),
    resources: asIs,
    restart: text,
    scale: optionalInteger,
    stdin_open: flag,
    tty: flag,
    'x-node-selector': asIs,
  },
  { command: nothing, entrypoint: nothing },
)

const external: Codec = flag
const fileObject = record({
  name: text,
  file: text,
  environment: text,
  content: text,
  external,
  labels,
  driver: text,
  driver_opts: options,
  template_driver: text,
})

const SECTIONS: Readonly<Record<string, Codec>> = {
  services: SERVICE,
  networks: record(
    {
      name: text,
      driver: text,
      driver_opts: options,
      ipam: record({
        driver: text,
        config: list(record({ subnet: text, gateway: text, ip_range: text, aux_addresses: labels })),
        options,
      }),
      external,
      internal: flag,
      attachable: flag,
      labels,
      enable_ipv4: optionalFlag,
      enable_ipv6: optionalFlag,
    },
    { ipam: emptyMap },
  ),
  volumes: record({ name: text, driver: text, driver_opts: options, external, labels }),
  secrets: fileObject,
  configs: fileObject,
  models: record({ name: text, model: text, context_size: integer, runtime_flags: texts }),
}
