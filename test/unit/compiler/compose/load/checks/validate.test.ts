import { describe, expect, test } from 'vitest'
import { validate } from '../../../../../../compiler/compose/load/checks/validate.ts'
import { Reporter } from '../../../../../../compiler/diagnostics/reporter.ts'
import { scalarTree, withEntry } from '../../../../../../compiler/text/tree.ts'
import { brief, check, checkService, parse, pointsAt } from '../../../../../support/schema/check.ts'

/** The only diagnostic of a service with these keys. */
function only(keys: string) {
  const { diagnostics, broken } = checkService(keys)
  expect(diagnostics.map(brief), keys).toHaveLength(1)
  expect(broken.keys.has('web'), keys).toBe(diagnostics[0]!.severity === 'error')
  return diagnostics[0]!
}

describe('wrong types', () => {
  test.each([
    ['ports: {a: b}', '`ports` of service `web` must be a list, not a mapping', '{a: b}'],
    ['ports: 8080', '`ports` of service `web` must be a list, not the number `8080`', '8080'],
    ['ports: [[80]]', '`ports[0]` of service `web` must be text, a whole number or a mapping, not a list', '[80]'],
    ['ports: [{target: [80]}]', '`ports[0].target` of service `web` must be a whole number, not a list', '[80]'],
    ['image: [a]', '`image` of service `web` must be text, not a list', '[a]'],
    ['image: 1.10', '`image` of service `web` must be text, not the number `1.10`', '1.10'],
    ['user: 1000', '`user` of service `web` must be text, not the number `1000`', '1000'],
    ['tty: 1', '`tty` of service `web` must be `true` or `false`, not the number `1`', '1'],
    ['restart: false', '`restart` of service `web` must be one of a few words, not `false`', 'false'],
    ['command: 5', '`command` of service `web` must be text or a list, not the number `5`', '5'],
    ['command: [5]', '`command[0]` of service `web` must be text, not the number `5`', '5'],
    ['environment: text', '`environment` of service `web` must be a list or a mapping, not the text `text`', 'text'],
    ['environment: {A: [b]}', '`environment.A` of service `web` must be a single value, not a list', '[b]'],
    ['environment: [{A: b}]', '`environment[0]` of service `web` must be text, not a mapping', '{A: b}'],
    ['cap_add: NET_ADMIN', '`cap_add` of service `web` must be a list, not the text `NET_ADMIN`', 'NET_ADMIN'],
    ['build: [.]', '`build` of service `web` must be text or a mapping, not a list', '[.]'],
    ['depends_on: db', '`depends_on` of service `web` must be a list or a mapping, not the text `db`', 'db'],
    ['healthcheck: curl', '`healthcheck` of service `web` must be a mapping, not the text `curl`', 'curl'],
    ['healthcheck: {interval: 10}', '`healthcheck.interval` of service `web` must be text, not the number `10`', '10'],
    ['env_file: {path: a}', '`env_file` of service `web` must be text or a list, not a mapping', '{path: a}'],
    ['scale: 2.5', '`scale` of service `web` must be a whole number, not the number `2.5`', '2.5'],
    [
      'deploy: {resources: {limits: {memory: 100}}}',
      '`deploy.resources.limits.memory` of service `web` must be text, not the number `100`',
      '100',
    ],
    ['volumes: {a: /b}', '`volumes` of service `web` must be a list, not a mapping', '{a: /b}'],
    [
      'use_api_socket: "true"',
      '`use_api_socket` of service `web` must be `true` or `false`, not the text `true`',
      '"true"',
    ],
    ['x-node-selector: [a=b]', '`x-node-selector` of service `web` must be a mapping, not a list', '[a=b]'],
    ['resources: {limits: 1}', '`resources.limits` of service `web` must be a mapping, not the number `1`', '1'],
    [
      'resources: {limits: {cpu: {}}}',
      '`resources.limits.cpu` of service `web` must be a number or text, not a mapping',
      '{}',
    ],
    ['healthcheck: {http: 80}', '`healthcheck.http` of service `web` must be a mapping, not the number `80`', '80'],
    ['mem_limit: .inf', '`mem_limit` of service `web` must be a number or text, not the number `.inf`', '.inf'],
  ])('%s has a wrong type', (keys, message, text) => {
    const found = only(keys)
    expect(found).toMatchObject({ code: 'schema/wrong-type', severity: 'error', message })
    expect(pointsAt(found)).toBe(text)
  })

  test.each([
    ['user: 1000', 'put it in quotes: `"1000"`'],
    ['image: 1.10', 'put it in quotes: `"1.10"`'],
    ['cap_add: NET_ADMIN', 'write it as an item of a list: `- NET_ADMIN`'],
    ['environment: [{A: b}]', 'write `- A=…`, or leave the dashes out where a mapping is allowed'],
    ['tty: 1', 'write `true` or `false`'],
  ])('the error in %s has a hint', (keys, hint) => expect(only(keys).hint).toBe(hint))

  test.each([
    ['services: []', '`services` must be a mapping, not a list', 'services'],
    ['volumes: text', '`volumes` must be a mapping, not the text `text`', 'volumes'],
    ['name: 5', '`name` must be text, not the number `5`', 'name'],
    ['endpoints: text', '`endpoints` must be a list or a mapping, not the text `text`', 'endpoints'],
  ])('%s is invalid as a whole', (text, message, key) => {
    const { diagnostics, broken } = check(text)
    expect(diagnostics.map(brief)).toEqual([`error[schema/wrong-type] ${message}`])
    expect([...broken.topLevel]).toEqual([key])
  })
})

describe('unknown keys', () => {
  test.each([
    ['imagee: x', 'unknown key `imagee` in service `web`', 'did you mean `image`?'],
    ['Ports: []', 'unknown key `Ports` in service `web`', 'did you mean `ports`?'],
    ['dependsOn: []', 'unknown key `dependsOn` in service `web`', 'did you mean `depends_on`?'],
    ['enviroment: {}', 'unknown key `enviroment` in service `web`', 'did you mean `environment`?'],
    ['replicas: 3', 'unknown key `replicas` in service `web`', '`replicas` belongs in `deploy`'],
    ['dockerfile: x', 'unknown key `dockerfile` in service `web`', '`dockerfile` belongs in `build`'],
    ['constraints: []', 'unknown key `constraints` in service `web`', '`constraints` belongs in `deploy.placement`'],
    ['env: {}', 'unknown key `env` in service `web`', 'it is called `environment` here'],
    ['qwerty: 1', 'unknown key `qwerty` in service `web`', 'remove it; keys of your own begin with `x-`'],
    ['build: {contxt: .}', 'unknown key `contxt` in `build` of service `web`', 'did you mean `context`?'],
    [
      'build: {ports: []}',
      'unknown key `ports` in `build` of service `web`',
      '`ports` belongs further out: check the indentation',
    ],
    [
      'deploy: {resources: {limits: {cpu: 1}}}',
      'unknown key `cpu` in `deploy.resources.limits` of service `web`',
      'did you mean `cpus`?',
    ],
    ['ports: [{targt: 80}]', 'unknown key `targt` in `ports[0]` of service `web`', 'did you mean `target`?'],
    ['volumes: [{typ: bind}]', 'unknown key `typ` in `volumes[0]` of service `web`', 'did you mean `type`?'],
    ['healthcheck: {retrys: 3}', 'unknown key `retrys` in `healthcheck` of service `web`', 'did you mean `retries`?'],
    [
      'depends_on: {db: {conditions: a}}',
      'unknown key `conditions` in `depends_on.db` of service `web`',
      'did you mean `condition`?',
    ],
    [
      'networks: {front: {alias: []}}',
      'unknown key `alias` in `networks.front` of service `web`',
      'did you mean `aliases`?',
    ],
    ['blkio_config: {wait: 1}', 'unknown key `wait` in `blkio_config` of service `web`', undefined],
    ['resources: {limit: {}}', 'unknown key `limit` in `resources` of service `web`', 'did you mean `limits`?'],
  ])('%s has an unknown key', (keys, message, hint) => {
    const found = only(keys)
    expect(found).toMatchObject({ code: 'services/unknown-key', message })
    if (hint !== undefined) expect(found.hint).toBe(hint)
    expect(message).toContain(`\`${pointsAt(found)}\``)
  })

  test.each([
    [
      'volumes: {data: {driver_opt: {}}}',
      'volumes/unknown-key',
      'unknown key `driver_opt` in volume `data`',
      'volumes.data',
    ],
    [
      'networks: {front: {internl: true}}',
      'networks/unknown-key',
      'unknown key `internl` in network `front`',
      'networks.front',
    ],
    [
      'networks: {front: {ipam: {configs: []}}}',
      'networks/unknown-key',
      'unknown key `configs` in `ipam` of network `front`',
      'networks.front',
    ],
    ['secrets: {key: {files: a}}', 'secrets/unknown-key', 'unknown key `files` in secret `key`', 'secrets.key'],
    [
      'configs: {conf: {contents: a}}',
      'configs/unknown-key',
      'unknown key `contents` in config `conf`',
      'configs.conf',
    ],
    ['models: {llm: {modell: a}}', 'models/unknown-key', 'unknown key `modell` in model `llm`', 'models.llm'],
  ])('an unknown key makes its resource invalid: %s', (text, code, message, resource) => {
    const { diagnostics, broken } = check(text)
    expect(diagnostics).toMatchObject([{ code, message }])
    expect([...broken.entries]).toEqual([resource])
    expect([...broken.keys.keys(), ...broken.topLevel]).toEqual([])
  })

  test.each([
    ['volume: {}', 'unknown key `volume` at the top level', 'did you mean `volumes`?'],
    ['web: {image: nginx}', 'unknown key `web` at the top level', 'a service goes below `services:`'],
  ])('%s is an unknown key at the top level', (text, message, hint) => {
    const { diagnostics, broken } = check(text)
    expect(diagnostics).toMatchObject([{ code: 'compose/unknown-key', message, hint }])
    expect(broken.topLevel.size).toBe(1)
  })

  test('an unknown key that Docker Compose ignores is a warning', () => {
    expect(only('gpus: [{cont: 1}]')).toMatchObject({
      code: 'schema/ignored-key',
      severity: 'warning',
      message: '`cont` in `gpus[0]` of service `web` is unknown and is ignored',
      hint: 'did you mean `count`?',
    })
  })

  test.each([
    'x-a: {b: [1]}',
    'build: {context: ., x-a: 1}',
    'healthcheck: {x-a: 1}',
    'ports: [{target: 80, x-a: 1}]',
    'blkio_config: {x-a: 1}',
    'env_file: [{path: a, x-a: 1}]',
    'deploy: {placement: {x-a: 1}}',
  ])('an extension is not an unknown key: %s', keys => expect(checkService(keys).diagnostics).toEqual([]))

  test('an `x-` key is a name where the user chooses the names', () => {
    const { diagnostics, broken } = check('services: {x-web: {imagee: a}}')
    expect(diagnostics).toMatchObject([{ message: 'unknown key `imagee` in service `x-web`' }])
    expect(broken.keys).toEqual(new Map([['x-web', new Set(['imagee', '*'])]]))
  })

  test('properties of JavaScript objects are unknown keys', () => {
    expect(only('constructor: 1')).toMatchObject({ code: 'services/unknown-key' })
    expect(only('build: {toString: 1}')).toMatchObject({ code: 'services/unknown-key' })
  })
})

describe('missing keys, words, bounds, names', () => {
  test.each([
    ['depends_on: {db: {}}', 'schema/missing-key', '`depends_on.db` of service `web` needs `condition`', 'db'],
    ['volumes: [{target: /a}]', 'schema/missing-key', '`volumes[0]` of service `web` needs `type`', '{target: /a}'],
    [
      'healthcheck: {http: {path: /}}',
      'schema/missing-key',
      '`healthcheck.http` of service `web` needs `port`',
      'http',
    ],
    [
      'env_file: [{required: false}]',
      'schema/missing-key',
      '`env_file[0]` of service `web` needs `path`',
      '{required: false}',
    ],
    ['post_start: [{user: a}]', 'schema/missing-key', '`post_start[0]` of service `web` needs `command`', '{user: a}'],
    ['ulimits: {nofile: {soft: 1}}', 'schema/missing-key', '`ulimits.nofile` of service `web` needs `hard`', 'nofile'],
    ['restart: alwys', 'schema/not-allowed', '`restart` of service `web` cannot be `alwys`', 'alwys'],
    [
      'deploy: {restart_policy: {condition: anny}}',
      'schema/not-allowed',
      '`deploy.restart_policy.condition` of service `web` cannot be `anny`',
      'anny',
    ],
    [
      'group_add: [1.5]',
      'schema/wrong-type',
      '`group_add[0]` of service `web` must be text or a whole number, not the number `1.5`',
      '1.5',
    ],
    [
      'restart: "on-failure:x"',
      'schema/not-allowed',
      '`restart` of service `web` cannot be `on-failure:x`',
      '"on-failure:x"',
    ],
    [
      'pull_policy: sometimes',
      'schema/not-allowed',
      '`pull_policy` of service `web` cannot be `sometimes`',
      'sometimes',
    ],
    ['cgroup: x', 'schema/not-allowed', '`cgroup` of service `web` cannot be `x`', 'x'],
    ['gpus: some', 'schema/not-allowed', '`gpus` of service `web` cannot be `some`', 'some'],
    [
      'volumes: [{type: bin, target: /a}]',
      'schema/not-allowed',
      '`volumes[0].type` of service `web` cannot be `bin`',
      'bin',
    ],
    ['container_name: "-"', 'schema/not-allowed', '`container_name` of service `web` cannot be `-`', '"-"'],
    [
      'cpu_percent: 120',
      'schema/out-of-range',
      '`cpu_percent` of service `web` must be 0 to 100, not the number `120`',
      '120',
    ],
    [
      'cpu_count: -1',
      'schema/out-of-range',
      '`cpu_count` of service `web` must be 0 or more, not the number `-1`',
      '-1',
    ],
    [
      'oom_score_adj: -2000',
      'schema/out-of-range',
      '`oom_score_adj` of service `web` must be -1000 to 1000, not the number `-2000`',
      '-2000',
    ],
    [
      'healthcheck: {http: {path: /, port: 70000}}',
      'schema/out-of-range',
      '`healthcheck.http.port` of service `web` must be 1 to 65535, not the number `70000`',
      '70000',
    ],
    ['depends_on: [db, db]', 'schema/duplicate-item', '`depends_on` of service `web` has `db` twice', 'db'],
    ['group_add: [a, 5, a]', 'schema/duplicate-item', '`group_add` of service `web` has `a` twice', 'a'],
    ['security_opt: [a, a]', 'schema/duplicate-item', '`security_opt` of service `web` has `a` twice', 'a'],
    ['environment: {"": a}', 'schema/bad-name', 'a name in `environment` of service `web` is empty', '""'],
    ['networks: {"a b": null}', 'schema/bad-name', '`a b` is not a valid name in `networks` of service `web`', '"a b"'],
    ['image:', 'schema/null-value', '`image` of service `web` has no value', 'image'],
    ['command: [a, ~]', 'schema/null-value', '`command[1]` of service `web` has no value', '~'],
  ])('%s is reported with its position', (keys, code, message, text) => {
    const found = only(keys)
    expect(found).toMatchObject({ code, message })
    expect(pointsAt(found)).toBe(text)
  })

  test('the nearest word is suggested, and the others are listed', () => {
    expect(only('restart: alwys')).toMatchObject({
      hint: 'did you mean `always`?',
      notes: ['allowed: `always`, `unless-stopped`, `any`, `none`, `never`, `no`, `on-failure` and `on-failure:3`'],
    })
    expect(only('cgroup: x').hint).toBe('allowed: `host` and `private`')
  })

  test('the diagnostic of a duplicate points at the first item', () => {
    expect(only('depends_on: [db, db]').related).toMatchObject([{ message: 'it is here already' }])
  })

  test.each(['services', 'volumes', 'networks', 'secrets', 'configs'])('names of %s are checked', key => {
    const { diagnostics } = check(`${key}: {"a b": {}}`)
    expect(diagnostics).toMatchObject([
      { code: 'schema/bad-name', message: `\`a b\` is not a valid name in \`${key}\`` },
    ])
  })

  test('an empty service is an error', () => {
    const { diagnostics, broken } = check('services: {web: , db: {image: a}}')
    expect(diagnostics).toMatchObject([
      { code: 'schema/null-value', message: 'service `web` is empty', hint: 'give it an `image` or a `build`' },
    ])
    expect([...broken.entries]).toEqual(['services.web'])
  })

  test('a container name of one character is accepted with a warning', () => {
    expect(only('container_name: x')).toMatchObject({ code: 'schema/odd-value', severity: 'warning' })
  })
})

describe('valid values', () => {
  test.each([
    'stop_grace_period: 10, restart: on-failure:3',
    'stop_grace_period: "10"',
    'restart: no',
    'restart: never',
    'restart: any',
    'deploy: {restart_policy: {condition: unless-stopped}}',
    'command: , entrypoint: , deploy: , develop: , pid: ',
    'replicas: 2.0'.replace('replicas', 'scale'),
    'container_name: ab',
    'pull_policy: every_12h',
    'healthcheck: {http: {path: /, port: 80}, x-platform-readiness: false, x-platform-liveness: true}',
    'healthcheck: {http: {path: /, port: "80"}}',
    'build: {context: ., export_cache: a/b:cache}',
    'x-node-selector: {disk: ssd, gpu: true}',
    'resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {cpu: 2}}',
    'environment: {A: , B: 1, C: true, D: 1.5, E: 2024-01-01, F: .inf}',
    'networks: {front: , back: {aliases: [a]}}',
    'models: {llm: }',
    'restart: ""',
    'storage_opt: {size: 1G, other: 1}',
    'ulimits: {nofile: 5, NOFILE: [not looked at]}',
    'extra_hosts: {a: [1.1.1.1], b: 1.1.1.1}',
    'cpu_rt_runtime: 400ms, blkio_config: {weight: "10"}',
  ])('keys of a service are accepted: %s', keys => expect(checkService(keys).diagnostics.map(brief)).toEqual([]))

  test.each([
    'volumes: {a: , b: {external: {name: c}}, d: {driver_opts: {size: 1Gi, class: fast}}}',
    'networks: {a: , b: {external: true}}',
    'secrets: {a: {external: {name: b}}}',
    'endpoints: [{path: /, service: web, port: 80}]',
    'endpoints: {api: [{path: /, service: web, port: "80"}], rules-of-mine: []}',
    'endpoints: {labels: {a: b}, rules: [{path: /, service: web, port: 80}]}',
    'endpoints: {labels: [{path: /, service: web, port: 80}]}',
    'x-anything: [1, {a: b}]',
    'include: [a.yaml, {path: [b.yaml, c.yaml], env_file: d}]',
  ])('top-level keys are accepted: %s', text => expect(check(text).diagnostics.map(brief)).toEqual([]))
})

describe('endpoints', () => {
  test.each([
    ['endpoints: [{path: /, service: web}]', 'schema/missing-key', '`endpoints[0]` needs `port`'],
    ['endpoints: [{path: /, service: web, prt: 80}]', 'endpoints/unknown-key', 'unknown key `prt` in `endpoints[0]`'],
    ['endpoints: {api: {path: /}}', 'endpoints/unknown-key', 'unknown key `path` in `endpoints.api`'],
    ['endpoints: {labels: {a: b}}', 'schema/missing-key', '`endpoints` needs `rules`'],
    ['endpoints: {rules: [], api: []}', 'endpoints/unknown-key', 'unknown key `api` in `endpoints`'],
    ['endpoints: [{path: /, service: web, port: http}]', 'schema/not-allowed', '`endpoints[0].port` cannot be `http`'],
  ])('%s is invalid', (text, code, message) => {
    const { diagnostics, broken } = check(text)
    expect(diagnostics).toMatchObject([{ code, message }])
    expect([...broken.topLevel]).toEqual(['endpoints'])
  })
})

describe('errors in several places', () => {
  test('an error in an anchor that several services use is reported once', () => {
    const { diagnostics, broken } = check(`
x-common: &common
  build: {contxt: .}
services:
  web: {<<: *common}
  db: {<<: *common}
  job: {<<: *common, image: a}
`)
    expect(diagnostics).toMatchObject([
      {
        message: 'unknown key `contxt` in `build` of service `web`',
        notes: ['the same lines are also in service `db`, service `job`'],
      },
    ])
    expect([...broken.keys.keys()]).toEqual(['web', 'db', 'job'])
  })

  test('errors in several places are all reported', () => {
    const { diagnostics } = check('services: {a: {imagee: x, tty: 1}, b: {user: 5}}\nvolumes: []')
    expect(diagnostics.map(({ code }) => code)).toEqual([
      'services/unknown-key',
      'schema/wrong-type',
      'schema/wrong-type',
      'schema/wrong-type',
    ])
  })
})

test("an error in a variable's value shows its origin, not the value", () => {
  const tree = parse('services: {web: {restart: "${POLICY}"}}')
  const service = tree.entries.get('services')!.value
  if (service.kind !== 'map') throw new Error('no mapping')
  const web = service.entries.get('web')!.value
  if (web.kind !== 'map') throw new Error('no mapping')
  const { span } = web.entries.get('restart')!.value
  const place = { ...span, start: span.start + 1, end: span.end - 1 }
  const value = {
    ...scalarTree(span, 'hunter2'),
    template: '${POLICY}',
    variables: [{ name: 'POLICY', origin: '.env:3', span: place }],
  }
  const reporter = new Reporter()
  validate(withEntry(tree, 'services', withEntry(service, 'web', withEntry(web, 'restart', value))), reporter)
  const [found] = reporter.diagnostics()
  expect(found).toMatchObject({ message: '`restart` of service `web` cannot be `${POLICY}`' })
  expect(found!.notes).toContain('`POLICY` comes from .env:3')
  expect(pointsAt(found!)).toBe('${POLICY}')
  expect(JSON.stringify(found, (key, value) => (key === 'span' ? undefined : value))).not.toContain('hunter2')
})
