import { describe, expect, test } from 'vitest'
import { rowOf } from '../../../../../compiler/compose/keys/lookup.ts'
import { lossKinds } from '../../../../../compiler/compose/keys/losses.ts'
import { catalogue } from '../../../../../compiler/diagnostics/diagnostic.ts'
import { brief, fates, pointsAt } from '../../../../support/schema/check.ts'

const ofService = (keys: string) => fates(`services: {web: {${keys}}}`)
const noEffect = (name: string) => `\`${name}\` has no equivalent in Kubernetes and is left out`

describe('keys without effect', () => {
  test.each([
    ['ulimits: {nofile: {soft: 1, hard: 2}}', 'ulimits', 'ulimits'],
    ['blkio_config: {weight: 5}', 'blkio-config', 'blkio_config'],
    ['cpuset: "0,1"', 'cpuset', 'cpuset'],
    ['cpu_percent: 50', 'cpu-percent', 'cpu_percent'],
    ['cpu_rt_runtime: 400', 'cpu-realtime', 'cpu_rt_runtime'],
    ['cpu_rt_period: 400', 'cpu-realtime', 'cpu_rt_period'],
    ['mem_swappiness: 5', 'mem-swappiness', 'mem_swappiness'],
    ['memswap_limit: "200", mem_limit: "100"', 'memswap-limit', 'memswap_limit'],
    ['oom_kill_disable: true', 'oom-kill-disable', 'oom_kill_disable'],
    ['oom_score_adj: 5', 'oom-score-adj', 'oom_score_adj'],
    ['pids_limit: 5', 'pids-limit', 'pids_limit'],
    ['deploy: {resources: {limits: {pids: 5}}}', 'pids-limit', 'deploy.resources.limits.pids'],
    ['deploy: {rollback_config: {parallelism: 1}}', 'rollback-config', 'deploy.rollback_config'],
    ['deploy: {restart_policy: {delay: 5s}}', 'restart-timing', 'deploy.restart_policy.delay'],
    ['deploy: {update_config: {failure_action: rollback}}', 'update-failure', 'deploy.update_config.failure_action'],
    ['deploy: {update_config: {max_failure_ratio: 0.5}}', 'update-failure', 'deploy.update_config.max_failure_ratio'],
    ['storage_opt: {size: 1G, other: a}', 'storage-opt', 'storage_opt.other'],
    ['device_cgroup_rules: [a]', 'device-cgroup-rules', 'device_cgroup_rules'],
    ['cgroup: host', 'cgroup', 'cgroup'],
    ['cgroup_parent: a', 'cgroup-parent', 'cgroup_parent'],
    ['userns_mode: private', 'userns-mode', 'userns_mode'],
    ['isolation: hyperv', 'isolation', 'isolation'],
    ['credential_spec: {file: a}', 'credential-spec', 'credential_spec'],
    ['mac_address: "02:42:ac:11:00:02"', 'network-attachment', 'mac_address'],
    ['networks: {a: {priority: 5}}', 'network-attachment', 'networks.a.priority'],
    ['networks: {a: {ipv4_address: 1.1.1.1}}', 'static-address', 'networks.a.ipv4_address'],
    ['logging: {driver: gelf}', 'logging', 'logging'],
    ['domainname: a', 'domainname', 'domainname'],
    ['umask: 18', 'umask', 'umask'],
    ['pull_refresh_after: 1d', 'pull-refresh-after', 'pull_refresh_after'],
    ['build: {isolation: hyperv}', 'build-isolation', 'build.isolation'],
  ])('%s is reported as having no effect', (keys, family, name) => {
    const found = ofService(keys)
    expect(found.map(brief)).toEqual([`warning[${family}/no-effect] ${noEffect(name)}`])
    expect(pointsAt(found[0]!)).toBe(name.split('.').at(-1))
  })

  test.each([
    ['networks: {a: {driver: macvlan}}', 'network-driver', 'networks.a.driver'],
    ['networks: {a: {driver_opts: {b: c}}}', 'network-driver', 'networks.a.driver_opts'],
    ['networks: {a: {ipam: {driver: b}}}', 'ipam', 'networks.a.ipam'],
    ['networks: {a: {enable_ipv6: true}}', 'address-family', 'networks.a.enable_ipv6'],
  ])('%s at the top level is reported as having no effect', (text, family, name) =>
    expect(fates(text).map(brief)).toEqual([`warning[${family}/no-effect] ${noEffect(name)}`]),
  )

  test('the diagnostic of ulimits has a hint', () =>
    expect(ofService('ulimits: {nofile: 5}')[0]!.hint).toBe(
      "set it on the node, or start the process with `sh -c 'ulimit -n 65535; exec …'`",
    ))

  test.each([
    ['init: true', 'warning[init/approximated]'],
    ['stop_signal: SIGUSR1', 'warning[stop-signal/no-effect]'],
    ['networks: {a: {use_service_name_alias: false}}', 'warning[service-name-alias/no-effect]'],
    ['logging: {driver: json-file, options: {max-size: 1m}}', 'info[logging/not-needed]'],
    ['logging: {options: {max-size: 1m}}', 'info[logging/not-needed]'],
    ['provider: {type: a}', 'error[provider/refused]'],
    ['use_api_socket: true', 'error[use-api-socket/refused]'],
  ])('%s is reported with the severity and code of its fate', (keys, start) => {
    const found = ofService(keys)
    expect(found).toHaveLength(1)
    expect(brief(found[0]!)).toMatch(start)
  })

  test.each([
    ['secrets: {a: {driver: b, driver_opts: {c: d}}}', 'error[secret-driver/refused]'],
    ['secrets: {a: {file: b, template_driver: golang}}', 'error[template-driver/refused]'],
    ['configs: {a: {content: b, template_driver: golang}}', 'error[template-driver/refused]'],
    ['version: "3.8"', 'info[version/no-effect]'],
    ['services: {a: {models: {llm: null}}}\nmodels: {llm: {model: b}}', 'error[models/refused]'],
    ['models: {a: {x-endpoint: b, context_size: 1}}', 'warning[model-settings/no-effect]'],
  ])('%s at the top level is reported with the severity and code of its fate', (text, start) => {
    const found = fates(text)
    expect(found).toHaveLength(1)
    expect(brief(found[0]!)).toContain(start)
  })
})

test('a key that a pre_start hook sets itself is reported', () => {
  const hook = (text: string) => ofService(text).map(brief)
  expect(hook('pre_start: [{command: [a], cap_add: [B]}], tty: true')).toEqual([
    'warning[pre-start/no-effect] `pre_start[0].cap_add` has no effect on the hook and is left out',
  ])
  // Hooks inherit the keys of their service.
  expect(hook('ulimits: &u {nofile: 5}, pre_start: [{command: [a], ulimits: *u}]')).toHaveLength(1)
})

describe('values that lose nothing', () => {
  test.each([
    'privileged: false, init: false, oom_kill_disable: false, read_only: true, tty: true',
    'cpuset: "", cpu_percent: 0, oom_score_adj: 0, pids_limit: -1',
    'mem_limit: "100", memswap_limit: "100"',
    'deploy: {resources: {limits: {memory: "100"}}}, memswap_limit: "100"',
    'memswap_limit: "0"',
    'cgroup: private, ipc: shareable, userns_mode: host, isolation: default',
    'ulimits: {}, blkio_config: {}, device_cgroup_rules: []',
    'deploy: {update_config: {failure_action: pause, max_failure_ratio: 0}, resources: {limits: {pids: 0}}}',
    'networks: {a: {priority: 0, gw_priority: 0, use_service_name_alias: true, aliases: [b]}, b: null}',
    'storage_opt: {size: 1G}, use_api_socket: false',
    'command: null, entrypoint: null, models: null',
    'pre_start: [{command: [a], image: b, user: c, environment: {D: e}, per_replica: true, working_dir: /}]',
    'profiles: [a], attach: false, develop: {watch: []}, extends: {service: b}',
    'x-anything: {ulimits: 1}',
    // The planner reports these.
    'security_opt: [a], sysctls: {a: b}, dns: [1.1.1.1], devices: [{source: a}], ports: [{target: 1, mode: host}]',
    'volumes: [{type: bind, source: /a, target: /b, bind: {selinux: z}}], tmpfs: ["/a:mode=1"], pid: host',
  ])('a service that loses nothing is not reported: %s', keys => expect(ofService(keys).map(brief)).toEqual([]))

  test.each([
    'networks: {a: {driver: bridge, ipam: {}, enable_ipv4: true, enable_ipv6: false, attachable: true}, b: null}',
    'volumes: {a: {driver: local}, b: {driver: nfs, driver_opts: {c: d}}}',
    'secrets: {a: {file: b}}',
    'models: {a: {model: b, context_size: 1}}',
    'services: {a: {models: {llm: null}}}\nmodels: {llm: {x-endpoint: b}}',
    'x-a: {version: 1}',
  ])('a document that loses nothing is not reported: %s', text => expect(fates(text).map(brief)).toEqual([]))
})

describe('rowOf', () => {
  test.each([
    ['services.web.ports', 'mapped'],
    ['services.web.ports.0.target', 'mapped'],
    ['services.web.ports.[].target', 'mapped'],
    ['services.web.ports.target', 'mapped'],
    ['services.*.environment.NODE_ENV', 'mapped'],
    ['services.web.ulimits.nofile.soft', 'none'],
    ['services.web.networks.front.ipv4_address', 'none'],
    ['services.web.build.args', 'cli'],
    ['services.web.provider.options.a', 'refused'],
    ['services.web.init', 'approximated'],
    ['jobs.a.image', 'mapped'],
    ['volumes.data.driver_opts.size', 'mapped'],
    ['endpoints.rules.0.path', 'mapped'],
    ['endpoints.api.0.path', 'mapped'],
    ['endpoints.0.path', 'mapped'],
  ])('the row of %s has the fate %s', (path, fate) => expect(rowOf(path.split('.'))?.fate).toBe(fate))

  test.each(['services.web.imagee', 'services.web.build.contxt', 'nothing', 'services.web.x-a', 'services.a b'])(
    '%s has no row',
    path => expect(rowOf(path.split('.'))).toBeUndefined(),
  )
})

test('every loss is in the catalogue and has an explanation', () => {
  for (const { kind, minor } of lossKinds.values())
    for (const each of minor ? [kind, minor] : [kind]) {
      expect(catalogue.get(each.code)).toBe(each)
      expect(each.explain.length, each.code).toBeGreaterThan(80)
      expect(each.code).toMatch(/^[a-z-]+\/(no-effect|approximated|refused|not-needed)$/)
    }
})
