import { PathRules } from '../../text/path.ts'

/** What a string becomes after interpolation, at the places where the Compose reference converts it (compose-spec.md 1.5). */
export type Cast = 'integer' | 'number' | 'boolean' | 'umask'

const CONTAINER: Readonly<Record<string, Cast>> = {
  cpu_count: 'integer',
  cpu_percent: 'number',
  cpu_period: 'integer',
  cpu_quota: 'integer',
  cpu_shares: 'integer',
  cpus: 'number',
  init: 'boolean',
  'networks.*.use_service_name_alias': 'boolean',
  oom_kill_disable: 'boolean',
  oom_score_adj: 'integer',
  pids_limit: 'integer',
  privileged: 'boolean',
  read_only: 'boolean',
  umask: 'umask',
  'ulimits.*': 'integer',
  'ulimits.*.hard': 'integer',
  'ulimits.*.soft': 'integer',
  'volumes.*.read_only': 'boolean',
  'volumes.*.volume.nocopy': 'boolean',
}
const WORKLOAD: Readonly<Record<string, Cast>> = {
  'depends_on.*.required': 'boolean',
  'depends_on.*.restart': 'boolean',
  'healthcheck.retries': 'integer',
  'healthcheck.disable': 'boolean',
  'healthcheck.http.port': 'integer',
  'healthcheck.x-platform-readiness': 'boolean',
  'healthcheck.x-platform-liveness': 'boolean',
  'ports.*.target': 'integer',
  stdin_open: 'boolean',
  tty: 'boolean',
}
const SERVICE: Readonly<Record<string, Cast>> = {
  'deploy.replicas': 'integer',
  'deploy.update_config.parallelism': 'integer',
  'deploy.update_config.max_failure_ratio': 'number',
  'deploy.rollback_config.parallelism': 'integer',
  'deploy.rollback_config.max_failure_ratio': 'number',
  'deploy.restart_policy.max_attempts': 'integer',
  'deploy.placement.max_replicas_per_node': 'integer',
  scale: 'integer',
}
const RESOURCES: Readonly<Record<string, Cast>> = {
  'networks.*.external': 'boolean',
  'networks.*.internal': 'boolean',
  'networks.*.attachable': 'boolean',
  'networks.*.enable_ipv4': 'boolean',
  'networks.*.enable_ipv6': 'boolean',
  'volumes.*.external': 'boolean',
  'secrets.*.external': 'boolean',
  'configs.*.external': 'boolean',
  // The dialect's endpoints: a list, a map of lists, or an object with rules.
  'endpoints.*.port': 'integer',
  'endpoints.*.*.port': 'integer',
}

function* rules(): Iterable<readonly [string, Cast]> {
  const under = function* (prefix: string, casts: Readonly<Record<string, Cast>>): Iterable<readonly [string, Cast]> {
    for (const [path, cast] of Object.entries(casts)) yield [`${prefix}.${path}`, cast]
  }
  yield* under('services.*', { ...CONTAINER, ...WORKLOAD, ...SERVICE })
  yield* under('services.*.pre_start.*', CONTAINER)
  yield* under('jobs.*', { ...CONTAINER, ...WORKLOAD })
  yield* Object.entries(RESOURCES)
}

export const CASTS = new PathRules<Cast>(rules())
