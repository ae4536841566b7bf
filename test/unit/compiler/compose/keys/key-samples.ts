import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseDocument, stringify } from 'yaml'
import { compile, type PlanOptions } from '../../../../../compiler/index.ts'
import { synth } from '../../../../../constructs/synth.ts'
import { goldenCases } from '../../../../support/cases.ts'
import { memoryHost } from '../../../../support/plan/compose.ts'

/** A Compose file with many keys, each with a value that changes the manifests. */
export interface Sample {
  readonly model: unknown
  readonly options: PlanOptions
}

const usual: PlanOptions = {
  namespace: 'shop',
  domain: 'dev.example.com',
  registry: 'registry.example.com',
  includeSecrets: true,
  startOrder: 'manifest',
}

const files: Readonly<Record<string, string>> = {
  'web.env': 'FROM_FILE=1\n',
  'web.labels': 'com.example.from-file=1\n',
  'conf/site.conf': 'listen 80;\n',
  'token.txt': 'hunter2\n',
  'app/Dockerfile': 'FROM node:22\nWORKDIR /app\nCOPY . .\nHEALTHCHECK CMD ["check"]\n',
}

/** The manifests of a model, its warnings and errors. With errors there are no manifests. */
export function rendered({ options }: Sample, model: unknown): Rendered {
  const host = {
    ...memoryHost({ 'compose.yaml': stringify(model), ...files }),
    environment: new Map([
      ['PLAIN', 'plain'],
      ['OTHER', 'other'],
    ]),
  }
  const { plan, diagnostics } = compile({ workingDirectory: '/project', ...options }, host)
  const messages = (wanted: string) =>
    diagnostics.filter(({ severity }) => severity === wanted).map(({ message }) => message)
  return {
    objects: plan && JSON.stringify(synth(plan).map(({ object }) => object)),
    warnings: messages('warning'),
    errors: messages('error'),
  }
}

export interface Rendered {
  readonly objects: string | undefined
  readonly warnings: readonly string[]
  readonly errors: readonly string[]
}

const sample = (text: string, options: PlanOptions = {}): Sample => ({
  model: parse(text),
  options: { ...usual, ...options },
})

/** Other values for required keys. */
export const otherValues: Readonly<Record<string, unknown>> = {
  'endpoints.rules': [{ path: '/', service: 'other', port: 80 }],
  'endpoints.*.rules': [{ path: '/', service: 'other', port: 80 }],
  'endpoints.*': [{ path: '/', service: 'other', port: 80 }],
  'volumes.*.driver_opts.device': ':/other',
  'services.*.depends_on.*.condition': 'service_started',
  'services.*.healthcheck.http.path': '/other',
  'services.*.healthcheck.http.port': 8181,
  'services.*.deploy.resources.reservations.devices.[].capabilities': ['gpu'],
  'services.*.post_start.[].command': ['other'],
  'services.*.pre_stop.[].command': ['other'],
  'services.*.volumes.[].type': 'volume',
  volumes: { data: {}, share: {}, memory: {}, old: {}, elsewhere: {} },
  'volumes.*': { driver_opts: { size: '5Gi' } },
  'networks.*': { internal: true },
  'services.*.image': 'other:2',
  jobs: { other: { image: 'other:2', triggers: { manual: true } } },
  'jobs.*': { image: 'other:2', triggers: { manual: true } },
  'jobs.*.triggers': { schedule: ['@daily'] },
  'jobs.*.triggers.schedule.[].cron': '@daily',
  'services.*.ports.[].target': 8181,
  'services.*.ports.[].x-host.name': 'other.example.com',
  'services.*.ports.[].x-host.[].name': 'other.example.com',
  'services.*.ports.[].x-expose.type': 'LoadBalancer',
  'services.*.volumes.[].target': '/other',
  'services.*.volumes.[].source': 'other',
  'services.*.devices.[].source': '/dev/other',
  'services.*.devices.[].target': '/dev/other',
  'services.*.configs.[].source': 'variable',
  'services.*.secrets.[].source': 'other',
  'services.*.x-autoscale.max': 20,
  'services.*.x-secret-environment.*': 'other',
  'services.*.x-secret-environment.*.source': 'given',
  'services.*.x-config-environment.*.source': 'given',
  'services.*.x-config-environment.*': 'variable',
  ...Object.fromEntries(
    ['endpoints.[]', 'endpoints.rules.[]', 'endpoints.*.[]', 'endpoints.*.rules.[]'].flatMap(rule => [
      [`${rule}.path`, '/other'],
      [`${rule}.service`, 'other'],
      [`${rule}.port`, 8181],
    ]),
  ),
  ...Object.fromEntries(
    [
      'endpoints.[]',
      'endpoints.rules.[]',
      'endpoints.*.[]',
      'endpoints.*.rules.[]',
      'endpoints',
      'endpoints.*',
    ].flatMap(owner => [
      [`${owner}.host.name`, 'other.example.com'],
      [`${owner}.host.[].name`, 'other.example.com'],
    ]),
  ),
  networks: { front: {}, back: {}, given: {}, further: {} },
  secrets: {
    token: { environment: 'PLAIN' },
    word: { environment: 'PLAIN' },
    given: { external: true },
    called: { external: true },
    other: { environment: 'PLAIN' },
  },
  configs: {
    site: { content: 'other' },
    plain: { content: 'other' },
    variable: { content: 'other' },
    given: { external: true },
    called: { external: true },
  },
  models: { llm: { 'x-endpoint': 'https://other.example.com' } },
  'models.*': { 'x-endpoint': 'https://other.example.com' },
  'models.*.x-endpoint': 'https://other.example.com',
  'secrets.*': { environment: 'PLAIN' },
  'configs.*': { content: 'other' },
  'secrets.*.file': './conf/site.conf',
  'configs.*.file': './token.txt',
  'secrets.*.environment': 'OTHER',
  'configs.*.environment': 'OTHER',
  'configs.*.content': 'other',
  'secrets.*.external': { name: 'other' },
  'configs.*.external': { name: 'other' },
}

const rules = `[
       {path: /, service: web, port: 80, host: {name: a.example.com, tls: {secret: cert}}},
       {path: /b, service: web, port: 80, host: [{name: b.example.com, tls: {secret: made, issuer: ca}}, {name: c.example.com, tls: {clusterIssuer: le}}]},
       {path: /c, service: api, port: 3000, host: {name: d.example.com, tls: {issuer: ca}}},
       {path: /d, service: api, port: 3000, host: {name: e.example.com, tls: {clusterIssuer: le}}},
       {path: /e, service: api, port: 3000, host: f.example.com, tls: {secret: cert}},
       {path: /f, service: api, port: 3000, host: g.example.com, tls: {issuer: ca}},
       {path: /g, service: api, port: 3000, host: h.example.com, tls: {clusterIssuer: le}},
       ]`
const short = '[{path: /, service: web, port: 80}]'
const routed =
  'services: {web: {image: nginx:1, ports: ["8080:80"]}, api: {image: api:1, ports: [3000]}, other: {image: api:1}}'
const hosts = [
  'host: {name: a.example.com, tls: {secret: cert}}',
  'host: [{name: b.example.com, tls: {secret: made, issuer: ca}}, {name: c.example.com, tls: {clusterIssuer: le}}, {name: d.example.com, tls: {issuer: ca}}]',
  'host: {name: d.example.com, tls: {issuer: ca}}',
  'host: {name: e.example.com, tls: {clusterIssuer: le}}',
  'host: f.example.com, tls: {secret: cert}',
  'host: g.example.com, tls: {issuer: ca}',
  'host: h.example.com, tls: {clusterIssuer: le}',
]

/** The samples. The keys of one sample can be combined. */
export const samples: readonly Sample[] = [
  sample(`
name: shop
services:
  web:
    image: nginx:1
    pull_policy: always
    platform: linux/arm64
    command: [serve]
    entrypoint: [/entry]
    working_dir: /srv
    environment: {COLOUR: blue}
    env_file: [web.env]
    labels: {example.com/owner: ann}
    label_file: web.labels
    annotations: {example.com/note: hello}
    user: "1000:1000"
    group_add: [2000]
    stop_grace_period: 25s
    runtime: gvisor
    depends_on:
      db: {condition: service_healthy, restart: true}
      away: {condition: service_healthy, required: false}
    healthcheck:
      test: [CMD, check]
      interval: 7s
      timeout: 8s
      retries: 9
      start_period: 10s
      start_interval: 2s
      x-platform-liveness: true
      x-platform-readiness: false
    stdin_open: true
    tty: true
    restart: always
    scale: 3
    pre_start:
      - image: tool:1
        command: [prepare]
        entrypoint: [/tool]
        working_dir: /prepare
        environment: {STEP: one}
        user: "1001"
        privileged: true
        per_replica: true
    post_start:
      - {command: [warm], working_dir: /warm, environment: {WARM: "1"}, user: root, privileged: true}
    pre_stop:
      - {command: [drain], working_dir: /drain, environment: {DRAIN: "1"}, user: root, privileged: true}
    hostname: front
    dns: [10.0.0.10]
    dns_search: [example.com]
    dns_opt: [ndots:3]
    extra_hosts: {example.test: 10.0.0.11}
    links: [db:database]
    external_links: [legacy:old]
    cap_add: [NET_ADMIN]
    cap_drop: [CHOWN]
    read_only: true
    sysctls: {net.ipv4.tcp_syncookies: 1}
    x-node-selector: {disk: fast}
    storage_opt: {size: 2G}
    shm_size: 128m
    tmpfs: [/cache]
    expose: [9000]
    volumes_from: [db]
  away: {image: away:1, profiles: [never]}
  db:
    image: postgres:17
    container_name: shopdata
    healthcheck: {http: {path: /ready, port: 5000}}
    volumes: [{type: volume, source: data, target: /data}]
  once: {image: tool:1, restart: "no", security_opt: [no-new-privileges]}
  unchecked: {image: "nginx:1", build: ./app, healthcheck: {disable: true}}
volumes:
  data: {name: shop-data, labels: {example.com/kept: "yes"}, driver_opts: {size: 3Gi, class: fast, access: ReadWriteMany}}
`),
  sample(`
services:
  node: {image: agent:1, privileged: true, pid: host, ipc: host, uts: host, network_mode: host, devices: [{source: /dev/fuse, target: /dev/fuse}]}
  limited: {image: nginx:1, cpus: 0.5, mem_limit: 256m, mem_reservation: 64m, cpu_shares: 512}
  named: {image: nginx:1, uts: host, gpus: [{device_ids: [a, b, c]}], deploy: {resources: {reservations: {devices: [{capabilities: [gpu], count: 1, options: {b: c}}]}}}}
  quota: {image: nginx:1, cpu_quota: 50000, cpu_period: 200000}
  counted: {image: nginx:1, cpu_count: 2}
  sized: {image: nginx:1, resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {cpu: 200m, memory: 128Mi}}}
  gpus: {image: nginx:1, gpus: [{capabilities: [tpu], count: 2, options: {b: c}}, {driver: amd, capabilities: [gpu]}]}
  cards:
    image: nginx:1
    deploy:
      resources:
        reservations:
          devices: [{capabilities: [tpu], count: 2}, {driver: amd, capabilities: [gpu], device_ids: [a, b]}]
          generic_resources: [{discrete_resource_spec: {kind: example.com/card, value: 2}}]
`),
  sample(`
services:
  web:
    image: nginx:1
    deploy:
      replicas: 4
      labels: {example.com/of: workload}
      resources: {limits: {cpus: "0.5", memory: 256m}, reservations: {cpus: "0.25", memory: 128m}}
      placement: {constraints: [node.labels.zone == a], preferences: [{spread: node.labels.rack}], max_replicas_per_node: 1}
      update_config: {parallelism: 2, order: start-first, delay: 20s, monitor: 20m}
  hidden: {image: nginx:1, ports: ["8080:8080"], deploy: {endpoint_mode: dnsrr}}
  agent: {image: agent:1, deploy: {mode: global}}
  task: {image: tool:1, deploy: {restart_policy: {condition: on-failure, max_attempts: 4}}}
`),
  sample(`
services:
  web:
    image: nginx:1
    ports:
      - {target: 80, published: "8080", app_protocol: http, name: front, x-host: {name: shop.example.com, tls: {secret: cert}}}
      - {target: 81, published: "8081", host_ip: 127.0.0.1}
      - {target: 82, published: "8082", mode: host}
      - {target: 53, protocol: udp}
      - {target: 83, published: "8083", x-host: [{name: a.example.com, tls: {secret: made, issuer: ca}}, {name: b.example.com, tls: {clusterIssuer: le}}]}
      - {target: 84, published: "8084", x-host: {name: c.example.com, tls: {issuer: ca}}}
      - {target: 85, published: "8085", x-host: {name: d.example.com, tls: {clusterIssuer: le}}}
      - {target: 86, published: "8086", x-expose: {type: LoadBalancer, annotations: {example.com/size: large}, loadBalancerClass: example.com/nlb, sourceRanges: [203.0.113.0/24]}}
      - {target: 87, published: "8087", x-expose: {type: NodePort, nodePort: 30080}}
    networks: {front: {aliases: [shopfront]}, back: {}, given: {}, further: {}}
  db: {image: postgres:17, networks: [back]}
  alone: {image: tool:1, network_mode: none}
networks:
  front: {labels: {example.com/on: policy}, name: outer}
  further: {name: outer}
  back: {internal: true}
  given: {external: true}
`),
  sample(`
services:
  web:
    image: nginx:1
    read_only: true
    volumes:
      - {type: volume, source: data, target: /data, read_only: true, volume: {subpath: inner}}
      - {type: volume, target: /own, volume: {labels: {example.com/kept: "yes"}, nocopy: true}}
      - {type: bind, source: /proc, target: /host/proc, bind: {propagation: rslave, create_host_path: false, recursive: readonly}, read_only: true}
      - {type: bind, source: ./conf, target: /etc/site, x-mount: secret}
      - {type: tmpfs, target: /scratch, tmpfs: {size: 1048576, mode: 0755}}
      - {type: image, source: assets:1, target: /assets, image: {subpath: public}}
    configs: [{source: site, target: /etc/site.conf, mode: 0440, uid: "1000", gid: "1000"}, plain, variable, given, called]
    secrets: [{source: token, target: /etc/token, mode: 0400, uid: "1000", gid: "1000"}, word, given, called]
    x-secret-environment: {TOKEN: token, CALLED: {source: called, key: password}}
    x-config-environment: {SITE: site, REGION: {source: called, key: region}}
  db: {image: postgres:17, volumes: ["data:/data", "share:/share", "memory:/memory", "old:/old", "elsewhere:/elsewhere"]}
volumes:
  data: {}
  share: {driver_opts: {type: nfs, o: "addr=10.0.0.12,ro", device: ":/exports"}}
  memory: {driver_opts: {type: tmpfs, o: size=1m}}
  old: {external: true, name: old-data}
  elsewhere: {driver: cloud, driver_opts: {zone: a}}
configs:
  site: {file: ./conf/site.conf, labels: {example.com/owner: ann}}
  plain: {content: hello}
  variable: {environment: PLAIN}
  given: {external: true}
  called: {external: true, name: given-config}
secrets:
  token: {file: ./token.txt, labels: {example.com/owner: ann}}
  word: {environment: PLAIN}
  given: {external: true}
  called: {external: true, name: given-secret}
  other: {environment: PLAIN}
`),
  sample(`
services:
  short: {image: chat:1, models: [llm]}
  long: {image: chat:1, models: {llm: {endpoint_var: ADDRESS, model_var: NAME}}}
models:
  llm: {model: ai/smollm2, x-endpoint: "https://llm.example.com/v1"}
`),
  sample(`
name: shop
services: {}
jobs:
  backup:
    image: busybox:1
    triggers: {manual: true, schedule: [{cron: 0 3 * * *, timezone: UTC, concurrency: queue}, {cron: 0 4 * * *, missed_fires: skip}]}
`),
  sample(`${routed}\nendpoints:\n  ${rules}`),
  sample(`${routed}\nendpoints:\n  labels: {example.com/owner: ann}\n  rules:\n    ${rules}`),
  sample(`${routed}\nendpoints:\n  shop:\n    ${rules}`),
  sample(`${routed}\nendpoints:\n  shop:\n    labels: {example.com/owner: ann}\n    rules:\n      ${rules}`),
  ...hosts.map(host => sample(`${routed}\nendpoints: {rules: ${short}, ${host}}`)),
  ...hosts.map(host => sample(`${routed}\nendpoints: {shop: {rules: ${short}, ${host}}}`)),
]

/**
 * The golden cases of `render` with a key, as samples: those that consist of a single Compose file
 * without errors.
 */
export function goldenSamples(key: string): readonly Sample[] {
  singleFiles ??= goldenCases()
    .filter(({ command, directory }) => command === 'render' && readdirSync(directory).every(name => SINGLE.has(name)))
    .map(({ directory }) => readFileSync(join(directory, 'compose.yaml'), 'utf8'))
  return singleFiles
    .filter(text => text.includes(`${key}:`))
    .map(text => parseDocument(text))
    .filter(({ errors }) => errors.length === 0)
    .map(document => ({ model: document.toJS() as unknown, options: usual }))
    .filter(one => rendered(one, one.model).errors.length === 0)
}

let singleFiles: readonly string[] | undefined

/** Entries of a golden case with a single input file. */
const SINGLE = new Set(['compose.yaml', 'expected', 'diagnostics.txt'])

/** A service's key in a sample. */
export interface ServiceValue {
  readonly sample: Sample
  readonly value: unknown
}

/** The first sample that has a key of a service, with its value; else a golden case. */
export function serviceValue(key: string): ServiceValue | undefined {
  return firstValue(samples, key) ?? firstValue(goldenSamples(key), key)
}

function firstValue(among: readonly Sample[], key: string): ServiceValue | undefined {
  for (const sample of among)
    for (const service of Object.values(servicesOf(sample)))
      if (Object.hasOwn(service, key)) return { sample, value: service[key] }
  return undefined
}

type Services = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const servicesOf = ({ model }: Sample): Services => (model as { readonly services: Services }).services // a sample

/** The output of a sample with more services. */
export function renderedWith(sample: Sample, services: Services): Rendered {
  return rendered(sample, { ...(sample.model as object), services: { ...servicesOf(sample), ...services } })
}

/** True if an output has a diagnostic that another one lacks, or has less often. */
export const saysMore = (one: Rendered, other: Rendered): boolean =>
  [...one.warnings, ...one.errors].some(line => count(one, line) > count(other, line))

const count = ({ warnings, errors }: Rendered, wanted: string): number =>
  [...warnings, ...errors].filter(line => line === wanted).length
