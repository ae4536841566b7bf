import { expect, test } from 'vitest'
import {
  type Cluster,
  ClusterError,
  type KubeObject,
  type ObjectQuery,
} from '../../../../adapters/kubernetes/cluster.ts'
import { Reporter } from '../../../../compiler/diagnostics/reporter.ts'
import { parseYaml } from '../../../../compiler/text/parse.ts'
import { SourceFile } from '../../../../compiler/text/source.ts'
import { entry, get, type ScalarTree, type Tree } from '../../../../compiler/text/tree.ts'
import { WorkloadFailed } from '../../../../environment/rollout/rollout.ts'
import type { Warning } from '../../../../environment/status/events.ts'
import { explainFailure } from '../../../../environment/status/explain.ts'
import { remedyOf } from '../../../../environment/status/hints.ts'
import { type Problem, podProblems } from '../../../../environment/status/problems.ts'
import { object, workload } from '../../../support/objects/deploying.ts'

const FILE = `services:
  web:
    image: nginx
    restart: "no"
    mem_limit: 64m
    cpus: 2
    user: app
    working_dir: /srv
    command: [start]
    privileged: true
    scale: 3
    pull_policy: never
    ports: ["80:80"]
    secrets: [token]
    configs: [page]
    environment: {A: b}
    x-node-selector: {disk: ssd}
    volumes: [data:/data, cache:/cache]
    healthcheck:
      test: curl -f localhost
      timeout: 1s
  named:
    image: nginx
    secrets: [{source: token, target: db}, db_password]
    volumes: [db:/data, creds:/creds, token-data:/token]
  bare:
    build: .
    deploy: {resources: {limits: {memory: 5m}}}
  worker:
    image: nginx
    restart: on-failure
  swarm:
    image: nginx
    restart: always
    deploy: {restart_policy: {condition: on-failure, max_attempts: 3}}
`
const file = new SourceFile('compose.yaml', FILE)
const services = get(parseYaml(file, new Reporter())?.[0]?.tree, 'services')

type Telling = Partial<Problem> & {
  readonly warnings?: readonly Warning[]
  readonly log?: readonly string[]
  readonly killed?: readonly KubeObject[]
}

/** Returns the report of a problem: code, the text at its position, message, hint and notes. */
async function told(
  code: Problem['code'],
  detail: string,
  { warnings = [], log = [], killed = [], ...more }: Telling = {},
  name = 'web',
) {
  const pod = object('Pod', 'web-1')
  const problem: Problem = { code, where: 'pod/web-1', pod, container: undefined, detail, ...more }
  const tracked = {
    object: object('Deployment', name),
    status: { state: 'failed', text: 'failed' } as const,
    isStable: false,
    hasStartedPod: false,
    hasReadyPods: false,
    pods: [pod],
    stuck: [],
    problems: [problem],
    warnings,
  }
  const cluster = {
    async *logs() {
      yield* log
    },
    list: async ({ fields = '' }: ObjectQuery) => (fields.includes('reason=Killing') ? killed : []),
  } as Partial<Cluster> as Cluster // nothing else is asked
  const [found] = await explainFailure(cluster, new WorkloadFailed(workload('Deployment', name), tracked), services)
  const { span, message, hint, notes } = found!
  return { code: found!.code, at: span && FILE.slice(span.start, span.end), message, hint, notes }
}

const warning = (message: string, reason = 'Unhealthy'): Warning => ({
  reason,
  message,
  count: 1,
  time: 0,
  about: { kind: 'Pod', name: 'web-1', uid: 'u' },
})
const NODES = '0/1 nodes are available: 1 '

test.each<[code: Problem['code'], detail: string, at: string, hint: RegExp, message?: RegExp]>([
  ['image-pull', 'docker.io/library/nginx:77: not found', 'nginx', /name and tag of `image`/],
  ['image-pull', 'pull access denied, repository does not exist', 'nginx', /requires credentials/],
  ['image-pull', 'dial tcp: lookup registry.example: no such host', 'nginx', /cannot reach the registry/],
  ['image-pull', 'ErrImageNeverPull', 'pull_policy', /`pull_policy`/],
  [
    'configuration',
    'secret "token" not found',
    'token',
    /`secrets`.*create secret generic token/,
    /Secret `token` of `web`/,
  ],
  ['configuration', 'MountVolume.SetUp failed for volume "x" : secret "shop-token" not found', 'token', /`secrets`/],
  ['configuration', 'configmap "page-1a2b" not found', 'page', /`configs`/, /ConfigMap `page-1a2b`/],
  ['configuration', "couldn't find key password in Secret ns/db", 'environment', /`password`/, /Secret `db`/],
  [
    'configuration',
    'exec: "start": executable file not found in $PATH',
    'command',
    /`command`/,
    /has no program `start`/,
  ],
  ['configuration', 'exec: "/start": permission denied', 'command', /executable/, /permission denied/],
  ['configuration', 'chdir to cwd ("/srv") set in config.json failed', 'working_dir', /`working_dir`/],
  ['configuration', 'unable to find user app: no matching entries in passwd file', 'user', /`user`/],
  ['configuration', 'error mounting "/var/x" to rootfs at "/cache": not a directory', 'cache:/cache', /`volumes`/],
  ['configuration', 'Multi-Attach error for volume "pvc-1"', 'volumes', /ReadWriteMany/],
  ['unschedulable', `${NODES}Insufficient memory.`, 'mem_limit', /lower `mem_limit`, which is `64m`/],
  ['unschedulable', `${NODES}Insufficient cpu.`, 'cpus', /lower `cpus`, which is `2`/],
  ['unschedulable', `${NODES}node(s) didn't have free ports for the requested pod ports.`, 'ports', /`ports`/],
  ['unschedulable', `${NODES}node(s) had volume node affinity conflict.`, 'volumes', /`volumes`/],
  ['unschedulable', `${NODES}node(s) didn't match Pod's node affinity/selector.`, 'x-node-selector', /x-node-selector/],
  ['unschedulable', `${NODES}node(s) had untolerated taint(s).`, 'x-node-selector', /`kubectl describe nodes`/],
  ['unschedulable', `${NODES}node(s) had untolerated taint {gpu: only}.`, 'x-node-selector', /the taint `gpu`/],
  ['unschedulable', 'persistentvolumeclaim "cache" not found', 'cache:/cache', /`volumes`/],
  [
    'unhealthy',
    'Readiness probe failed: /bin/sh: curl: not found',
    'test',
    /healthcheck\.http/,
    /runs `curl`, which its image/,
  ],
  ['unhealthy', 'Readiness probe failed: bash: line 1: wget: command not found', 'test', /http/, /runs `wget`/],
  [
    'unhealthy',
    'Readiness probe errored: exec: "pg_isready": executable file not found in $PATH',
    'test',
    /http/,
    /runs `pg_isready`/,
  ],
  ['unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 404', 'test', /answers 404/],
  ['unhealthy', 'Readiness probe failed: connect: connection refused', 'test', /nothing listens/],
  ['unhealthy', 'Readiness probe failed: command timed out', 'timeout', /raise `healthcheck.timeout`/],
  ['unhealthy', 'Readiness probe failed: teapot', 'test', /start_period/],
  ['refused', 'exceeded quota: small, requested: requests.memory=64Mi, used: 0', 'mem_limit', /lower `mem_limit`/],
  ['refused', 'exceeded quota: none, requested: pods=1, used: pods=0', 'scale', /lower `scale`/],
  [
    'refused',
    'Pod "x" is invalid: spec.containers[0].resources.requests: Invalid value: "3Gi": must be less than or equal to memory limit of 2Gi',
    'mem_limit',
    /without a limit one of 2Gi: add `deploy\.resources\.limits\.memory`/,
  ],
  ['refused', 'failed quota: q: must specify limits.cpu for: web', 'web', /deploy\.resources\.limits\.cpus/],
  [
    'refused',
    'pods "x" is forbidden: violates PodSecurity "baseline": privileged',
    'privileged',
    /--policy restricted/,
  ],
  [
    'refused',
    'admission webhook "policy.example.com" denied the request: no',
    'web',
    /reason is above/,
    /webhook `policy.example.com`/,
  ],
  [
    'claim',
    'storageclass.storage.k8s.io "fast" not found',
    'volumes',
    /driver_opts\.class/,
    /storage class `fast` does not exist/,
  ],
  ['serves', '`api`', 'restart', /let `api` wait with `condition: service_healthy`/],
])('the hint fits the problem %s: %s', async (code, detail, at, hint, message) => {
  const found = await told(code, detail)
  expect(found).toMatchObject({ at, hint: expect.stringMatching(hint) })
  if (message) expect(found.message).toMatch(message)
})

test.each([
  ['worker', 'restart', 'set `restart` to `always`'],
  ['swarm', 'condition', 'set `deploy.restart_policy.condition` to `any`'],
  ['bare', undefined, 'write `restart: always`'],
])('the hint for a server that is a Job names the key in its file: %s', async (service, at, hint) => {
  const found = await told('serves', '`api`', {}, service)
  expect(found.at === service ? undefined : found.at).toBe(at)
  expect(found.hint).toBe(`for a server, ${hint}, and let \`api\` wait with \`condition: service_healthy\``)
})

test.each([
  ['db-password', 'db_password'],
  ['token', '{source: token, target: db}'],
  ['creds-of-prod', 'secrets'],
])('the Secret `%s` is not confused with a volume of a similar name', async (secret, at) => {
  const found = await told('configuration', `secret "${secret}" not found`, {}, 'named')
  expect(found).toMatchObject({ at, hint: expect.stringContaining('change `secrets`') })
})

test('a node that is not ready is named as such, not as a taint', async () => {
  const found = await told(
    'unschedulable',
    '0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }.',
  )
  expect(found.hint).toMatch(/^a node is not ready: `kubectl get nodes`/)
})

test('the hint for a container that was killed for its memory names the written limit', async () => {
  const ends = { count: 3, exitCode: 137, reason: 'OOMKilled' }
  expect(await told('crash-loop', '', { ends })).toMatchObject({
    at: 'mem_limit',
    hint: 'raise its memory limit: `mem_limit`, which is `64m`',
  })
  expect(await told('crash-loop', '', { ends }, 'bare')).toMatchObject({
    at: 'memory',
    hint: expect.stringContaining('`deploy.resources.limits.memory`, which is `5m`'),
  })
})

test('the hint for a container that its health check stopped names the check', async () => {
  const ends = { count: 3, exitCode: 137 }
  const warnings = [warning('Liveness probe failed: sh: curl: not found')]
  const found = await told('crash-loop', '', { ends, warnings })
  expect(found).toMatchObject({ at: 'test', hint: expect.stringContaining('healthcheck.http') })
})

test.each([
  ['Container web failed liveness probe, will be restarted', 'deploy/crash-loop', 'test'],
  ['Stopping container web', 'deploy/ends-well', 'restart'],
])('a restart after exit code 0 is explained by the reason of the stop: %s', async (message, code, at) => {
  const ends = { count: 3, exitCode: 0 }
  const warnings = [warning('Liveness probe failed: HTTP probe failed with statuscode: 404')]
  const killed = [{ ...object('Event', 'a'), reason: 'Killing', message }]
  const found = await told('crash-loop', '', { ends, warnings, killed })
  expect(found).toMatchObject({ code, at })
  if (code === 'deploy/crash-loop')
    expect(found.message).toBe('`web` was stopped 3 times, because its health check failed')
})

test.each([
  ['sidecar', 'deploy/crash-loop', ['pod/web-1 printed nothing']],
  ['web', 'deploy/crash-loop', ['pod/web-1: Startup probe failed: not yet', 'pod/web-1 printed nothing']],
])('a failed check of the container `%s` explains only its own restarts', async (checked, code, notes) => {
  const { about, ...rest } = warning('Startup probe failed: not yet')
  const warnings = [{ ...rest, about: { ...about, container: checked } }]
  const found = await told('crash-loop', '', { ends: { count: 4, exitCode: 1 }, warnings, container: 'web' })
  expect(found).toMatchObject({ code, notes })
})

test.each([
  ['sidecar', 'deploy/ends-well'],
  ['web', 'deploy/crash-loop'],
])('a stop of the container `%s` explains only its own exits', async (stopped, code) => {
  const warnings = [warning('Liveness probe failed: no')]
  const message = `Container ${stopped} failed liveness probe, will be restarted`
  const involvedObject = { fieldPath: `spec.containers{${stopped}}` }
  const killed = [{ ...object('Event', 'a'), reason: 'Killing', message, involvedObject }]
  const ends = { count: 3, exitCode: 0 }
  expect(await told('crash-loop', '', { ends, warnings, killed, container: 'web' })).toMatchObject({ code })
})

test('the hint names a limit as it is written, also if loading has converted it to bytes', async () => {
  const limit = get(services, 'web', 'mem_limit') as ScalarTree // the file has a scalar
  const entries = new Map([['mem_limit', { ...entry(services, 'web')!, value: { ...limit, value: 67108864 } }]])
  const bytes: Tree = { kind: 'map', span: limit.span, entries }
  const ends = { count: 3, exitCode: 137, reason: 'OOMKilled' }
  expect(remedyOf({ code: 'crash-loop', detail: '', ends }, bytes, 'web').hint).toContain('which is `64m`')
})

test.each([
  [127, 'command', /`command`/],
  [126, 'command', /`command`/],
  [1, 'web', /devctl logs web/],
])('the hint fits exit code %i', async (exitCode, at, hint) => {
  expect(await told('crash-loop', '', { ends: { count: 3, exitCode } })).toMatchObject({
    at,
    hint: expect.stringMatching(hint),
  })
})

test('the hint for a container that completes its work names the restart policy', async () => {
  const found = await told('crash-loop', '', { ends: { count: 3, exitCode: 0 } })
  expect(found).toMatchObject({ code: 'deploy/ends-well', at: 'restart' })
})

const LAST = 'set `entrypoint` to the program that its image starts'

test.each<[keys: string, hint: string | undefined]>([
  ['', `${LAST}, with its arguments`],
  ['restart: "no"', `${LAST}, with its arguments`],
  ['restart: on-failure:3', `${LAST}, with its arguments`],
  ['restart: "no", command: [migrate]', `${LAST}; \`command\` stays its arguments`],
  ['restart: always', `write \`restart: "no"\`, and ${LAST}, with its arguments`],
  ['restart: always, entrypoint: [run]', 'write `restart: "no"`'],
  ['deploy: {restart_policy: {condition: any}}, command: [sh, -c, x]', 'write `deploy.restart_policy.condition: none`'],
  ['entrypoint: [run], expose: ["80"]', 'write `restart: "no"`'],
  [
    'entrypoint: [run], restart: "no", expose: ["80"], healthcheck: {test: "true"}',
    'remove `healthcheck`, with which it counts as a server',
  ],
  ['entrypoint: [run], restart: "no"', 'write `healthcheck: {disable: true}`, in case its image has a healthcheck'],
  ['entrypoint: [run], restart: "no", healthcheck: {disable: true}', undefined],
])('the hint for a one-shot in the Pod of another service names only what its file lacks: %s', (keys, hint) => {
  const text = `services: {job: {image: i, network_mode: "service:main"${keys && `, ${keys}`}}}`
  const job = get(parseYaml(new SourceFile('compose.yaml', text), new Reporter())?.[0]?.tree, 'services', 'job')
  const ends = { count: 3, exitCode: 0 }
  const found = remedyOf({ code: 'crash-loop', detail: '', ends }, job, 'job').hint
  expect(found).toBe(hint ? `if the service should run once, ${hint}` : '`devctl logs job` shows more')
})

test('the hint for a container that ends does not name a restart policy that its file has', () => {
  const hintOf = (keys: string) => {
    const file = new SourceFile('compose.yaml', `services: {job: {image: i${keys}}}`)
    const job = get(parseYaml(file, new Reporter())?.[0]?.tree, 'services', 'job')
    return remedyOf({ code: 'crash-loop', detail: '', ends: { count: 3, exitCode: 0 } }, job, 'job').hint
  }
  const once = 'if the service should run once, '
  expect(hintOf('')).toBe(`${once}write \`restart: "no"\`, which makes it a Job`)
  expect(hintOf(', deploy: {restart_policy: {condition: any}}')).toBe(
    `${once}write \`deploy.restart_policy.condition: none\`, which makes it a Job`,
  )
  expect(hintOf(', restart: "no", deploy: {mode: global}')).toBe(
    `${once}remove \`deploy.mode: global\`, which runs it on every node again and again`,
  )
})

test('a stack trace is indented by spaces, since a tab would be shown as an escape', async () => {
  const { notes } = await told('crash-loop', '', {
    container: 'web',
    log: ['java.net.ConnectException', '\tat Main.main'],
  })
  expect(notes?.slice(-2)).toEqual(['| java.net.ConnectException', '|     at Main.main'])
})

test.each([
  'unable to retrieve container logs for containerd://1a2b',
  'failed to try resolving symlinks in path "/var/log/pods/x/web/0.log": lstat /var/log/pods/x: no such file or directory',
  'container "web" in pod "web-1" is waiting to start: trying and failing to pull image',
])('a message of the kubelet is not taken for output of the program: %s', async line => {
  const found = await told('crash-loop', '', {
    pod: object('Pod', 'web-1'),
    container: 'web',
    ends: { count: 3, exitCode: 1 },
    log: [line],
  })
  expect(found.notes).toEqual(['pod/web-1 printed nothing'])
})

test('a problem that the container and an event report alike is printed once', async () => {
  const detail = 'secret "token" not found'
  const warnings = [
    warning(`Error: ${detail}`, 'Failed'),
    warning('something else', 'Other'),
    warning('something else', 'Other'),
  ]
  expect((await told('configuration', detail, { warnings })).notes).toEqual([
    `pod/web-1: ${detail}`,
    'pod/web-1: something else',
  ])
})

test('a health check whose program is missing ends the wait at once', () => {
  const startedAt = new Date(0).toISOString()
  const pod: KubeObject = {
    ...object('Pod', 'web-1'),
    spec: { containers: [{ name: 'web', readinessProbe: { failureThreshold: 10 } }] },
    status: {
      phase: 'Running',
      containerStatuses: [{ name: 'web', restartCount: 0, state: { running: { startedAt } } }],
    },
  }
  const of = (message: string) => podProblems(pod, [{ ...warning(message), time: 1000 }], 2000).map(({ code }) => code)
  expect(of('Readiness probe failed: sh: curl: not found')).toEqual(['unhealthy'])
  expect(of('Readiness probe failed: connection refused')).toEqual([])
})

test.each([
  ['with a Pod that has just gone', true],
  ['without a Pod', false],
])('the log of a Job whose Pod was deleted is not taken for empty: %s', async (_, hasPod) => {
  const pod = object('Pod', 'web-1')
  const ends = { count: 3, exitCode: 7 }
  const problem: Problem = { code: 'crash-loop', where: 'pod/web-1', pod, container: 'web', detail: '', ends }
  const tracked = {
    object: object('Job', 'web'),
    status: { state: 'failed', text: 'Job failed' } as const,
    isStable: false,
    hasStartedPod: false,
    hasReadyPods: false,
    pods: hasPod ? [pod] : [],
    stuck: [],
    problems: hasPod ? [problem] : [],
    warnings: [],
  }
  const cluster = {
    // biome-ignore lint/correctness/useYield: nothing comes of it
    async *logs() {
      throw new ClusterError('not-found', 'pods "web-1" not found')
    },
  } as Partial<Cluster> as Cluster // nothing else is asked
  const job = workload('Job', 'web', { spec: { template: { spec: { restartPolicy: 'OnFailure' } } } })
  const [found] = await explainFailure(cluster, new WorkloadFailed(job, tracked), services)
  expect(found!.notes).toContain(
    hasPod ? 'pod/web-1 is gone, and its log with it' : 'its Pod is gone, and its log with it',
  )
  expect(found!.notes?.join()).not.toContain('printed nothing')
  expect(found!.hint).toContain('with `restart: "no"` the Pod stays')
})

test.each([
  [[], 'its first health check comes 10 min 0 s after its start', /shorten `healthcheck.start_period`/],
  [[warning('Readiness probe failed: no')], 'pod/web-1: Readiness probe failed: no', /^wait longer with `--timeout`;/],
])('a service that is late is reported with its first check or its last failure (%#)', async (...row) => {
  const [warnings, note, hint] = row
  const containers = [{ name: 'web', readinessProbe: { initialDelaySeconds: 600 } }]
  const web = workload('Deployment', 'web', { spec: { template: { spec: { containers } } } })
  const tracked = {
    object: web.object,
    status: { state: 'waiting', text: 'Deployment 0/1 ready' } as const,
    isStable: false,
    hasStartedPod: true,
    hasReadyPods: false,
    pods: [],
    stuck: [],
    problems: [],
    warnings,
  }
  const nothing = {} as Partial<Cluster> as Cluster // nothing is asked
  const [found] = await explainFailure(nothing, new WorkloadFailed(web, tracked), services)
  expect(found).toMatchObject({ code: 'deploy/not-ready', notes: expect.arrayContaining([note]) })
  expect(found!.hint).toMatch(hint)
})

test.each<[words: string, probe: object, at: string, hint: RegExp]>([
  [
    'curl: (7) Failed to connect to db port 5432: Connection refused',
    { exec: {} },
    'test',
    /if it needs longer to start/,
  ],
  ['HTTP probe failed with statuscode: 503', { exec: {} }, 'test', /if it needs longer to start/],
  ['query timed out after 3 s', { exec: {} }, 'test', /if it needs longer to start/],
  ['checking\nimport.sh: pg_dump: not found', { exec: {} }, 'test', /if it needs longer to start/],
  ['/bin/sh: curl: not found', { exec: {} }, 'test', /use a program of the image/],
  ['sh: 1: curl: not found\nsh: 1: wget: not found', { exec: {} }, 'test', /use a program of the image/],
  ['command timed out: "sh -c sleep 9" timed out after 1s', { exec: {} }, 'timeout', /raise `healthcheck.timeout`/],
  ['command "sh -c sleep 9" timed out', { exec: {} }, 'timeout', /raise `healthcheck.timeout`/],
  ['HTTP probe failed with statuscode: 503', { httpGet: {} }, 'test', /it answers 503/],
  [
    'Get "http://10.0.0.9:80/": dial tcp 10.0.0.9:80: connect: connection refused',
    { httpGet: {} },
    'test',
    /nothing listens/,
  ],
  [
    'Get "http://10.0.0.9:80/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    { httpGet: {} },
    'timeout',
    /exceeds its timeout/,
  ],
])(
  'the hint about a failed check uses the words of the kubelet, not the output of the command: %s %j',
  async (...row) => {
    const [words, probe, at, hint] = row
    const plain = object('Pod', 'web-1')
    const pod = { ...plain, spec: { containers: [{ name: 'web', readinessProbe: probe, livenessProbe: probe }] } }
    const detail = `Readiness probe failed: ${words}`
    const found = await told('unhealthy', detail, { pod, container: 'web' })
    expect(found).toMatchObject({
      at,
      hint: expect.stringMatching(hint),
      notes: expect.arrayContaining([`pod/web-1: ${detail}`]),
    })
    const warnings = [warning(`Liveness probe failed: ${words}`)]
    const stopped = await told('crash-loop', '', { ends: { count: 3, exitCode: 137 }, pod, container: 'web', warnings })
    expect(stopped).toMatchObject({ at, hint: expect.stringMatching(hint) })
  },
)

test('a message of the runtime about a check is not taken for its output', async () => {
  const plain = object('Pod', 'web-1')
  const pod = { ...plain, spec: { containers: [{ name: 'web', readinessProbe: { exec: {} } }] } }
  const detail =
    'Readiness probe errored and resulted in unknown state: rpc error: code = Unknown desc = failed to exec in container: failed to start exec "1": OCI runtime exec failed: exec failed: unable to start container process: exec: "pg_isready": executable file not found in $PATH'
  const found = await told('unhealthy', detail, { pod, container: 'web' })
  expect(found.message).toContain('runs `pg_isready`, which its image does not have')
})

test.each([
  ['worker', 'restart', /^`restart: on-failure` makes it a Job, .* write `restart: always`$/],
  ['swarm', 'condition', /^`deploy.restart_policy.condition: on-failure` makes it a Job, .* write `condition: any`$/],
])('a Job that still runs at the deadline names the policy that made it one: %s', async (name, at, hint) => {
  const job = workload('Job', name, { spec: { template: { spec: { restartPolicy: 'OnFailure' } } } })
  const pod = { ...object('Pod', `${name}-1`), status: { phase: 'Running' } }
  const tracked = {
    object: job.object,
    status: { state: 'waiting', text: 'Job running' } as const,
    isStable: true,
    hasStartedPod: true,
    hasReadyPods: true,
    pods: [pod],
    stuck: [],
    problems: [],
    warnings: [],
  }
  const cluster = { async *logs() {} } as Partial<Cluster> as Cluster // nothing else is asked
  const [found] = await explainFailure(cluster, new WorkloadFailed(job, tracked), services)
  expect(found).toMatchObject({ code: 'deploy/not-ready', message: `\`${name}\` was not ready in time` })
  expect(FILE.slice(found!.span!.start, found!.span!.end)).toBe(at)
  expect(found!.hint).toMatch(hint)
})

const GROUP = `services:
  web: {image: nginx}
  my_worker: {image: nginx, network_mode: "service:web", mem_limit: 64m}
  My.Api: {image: nginx, mem_limit: 32m}
  2nd: {image: nginx, mem_limit: 16m}
`
const groupFile = new SourceFile('compose.yaml', GROUP)
const group = get(parseYaml(groupFile, new Reporter())?.[0]?.tree, 'services')

test.each<[string, source: string, service: string, container: string, line: number]>([
  ['the lead of a Pod', '#services.web', 'web', 'web', 2],
  ['another member of the Pod', '#services.web', 'web', 'my-worker', 3],
  ['a service alone', '#services.My.Api', 'my-api', 'my-api', 4],
  ['a service whose source is not known', '', 'my-api', 'my-api', 4],
  ['a service whose name begins with a digit', '', 's-2nd', 's-2nd', 5],
  ['a member of a Pod whose source is not known', '', 'web', 'my-worker', 3],
])(
  'a problem is reported at the key of the service, also if Kubernetes has another name for it: %s',
  async (...row) => {
    const [, source, service, container, line] = row
    const pod = object('Pod', 'web-1')
    const ends = { count: 3, exitCode: 137, reason: 'OOMKilled' }
    const problem: Problem = { code: 'crash-loop', where: 'pod/web-1', pod, container, detail: '', ends }
    const tracked = { status: { state: 'failed', text: '' } as const, pods: [pod], problems: [problem], warnings: [] }
    const cluster = { async *logs() {}, list: async () => [] } as Partial<Cluster> as Cluster // nothing else is asked
    const failed = { workload: { service, source, object: object('Deployment', service) }, tracked }
    const [found] = await explainFailure(cluster, failed, group)
    expect(found!.span && groupFile.position(found!.span.start).line).toBe(line)
    expect(found!.message).toContain(`\`${container}\``)
  },
)

test('a service that is late is reported at its key, also if Kubernetes has another name for it', async () => {
  const tracked = { status: { state: 'waiting', text: '' } as const, pods: [], problems: [], warnings: [] }
  const late = { workload: { service: 'my-api', source: '', object: object('Deployment', 'my-api') }, tracked }
  const [found] = await explainFailure({} as Cluster, late, group) // nothing is asked
  expect(found!.span && groupFile.position(found!.span.start).line).toBe(4)
})
