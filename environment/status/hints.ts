import type { Span } from '../../compiler/text/source.ts'
import { entry, get, isMap, isScalar, isSeq, type ScalarTree, type Tree } from '../../compiler/text/tree.ts'
import { toDnsLabel } from '../../compiler/values/dns-name.ts'
import { checkWords, NO_PROGRAM } from './check-words.ts'
import { onceHintOf } from './once-remedy.ts'
import type { Problem } from './problems.ts'

/** Change that fixes a problem. */
export interface Remedy {
  /** Position of the key to change, or of the image of the service; undefined if the file contains neither. */
  readonly place: Span | undefined
  /**
   * Error message, as a clause about `{service}`; absent if the general message for the kind of problem is specific
   * enough.
   */
  readonly message?: string
  readonly hint?: string
}

/** Problem, as reported by the cluster, for which a remedy is looked up. */
export type ReportedProblem = Pick<Problem, 'code' | 'detail' | 'ends'> & {
  /** Message of the health check that made the kubelet stop the container. */
  readonly check?: string
}

/**
 * Returns a problem prepared for the lookup of its remedy: without the output of health check commands, which does not
 * tell the reason of the problem. `check` is the message of the check that made the kubelet stop the container.
 */
export function reportedOf(problem: Problem, check?: string): ReportedProblem {
  const { code, detail, pod, container } = problem
  return {
    ...problem,
    ...(code === 'unhealthy' && { detail: checkWords(detail, pod, container) }),
    ...(check !== undefined && { check: checkWords(check, pod, container) }),
  }
}

/** Groups of a match of the pattern in `match`; the first item is the full match. */
type Found = readonly (string | undefined)[]

interface Rule {
  /** Pattern for the cluster's message; if absent, the rule applies to every message. */
  readonly match?: RegExp
  /**
   * Paths of keys of the service. The first path that exists in the file gives the position and is named in the hint;
   * if none exists, the hint names the first path.
   */
  readonly keys: readonly string[]
  /**
   * Returns the name that the list item to show refers to, from the groups of `match`. Absent, or undefined, if the key
   * itself is shown.
   */
  readonly item?: (found: Found) => string | undefined
  readonly message?: (found: Found, service: string) => string
  readonly hint: (found: Found, key: string, value: string | undefined) => string | undefined
}

const MEMORY_LIMIT = ['deploy.resources.limits.memory', 'resources.limits.memory', 'mem_limit']
const MEMORY_REQUEST = [
  'deploy.resources.reservations.memory',
  'resources.requests.memory',
  'mem_reservation',
  ...MEMORY_LIMIT,
]
const CPU_REQUEST = [
  'deploy.resources.reservations.cpus',
  'resources.requests.cpu',
  'deploy.resources.limits.cpus',
  'resources.limits.cpu',
  'cpus',
]
const NODES = ['x-node-selector', 'deploy.placement.constraints', 'platform']
const CHECK = ['healthcheck.test', 'healthcheck.http', 'healthcheck']
const PROGRAM = ['entrypoint', 'command']
const RESTART = ['restart', 'deploy.restart_policy']
const CONDITION = 'deploy.restart_policy.condition'
/**
 * Returns the first group of a match: the name of an object in the cluster. The name may start with the environment's
 * name, unlike the name in the file.
 */
const named = (found: Found): string | undefined => found[1]

const RULES: Readonly<Record<Problem['code'], readonly Rule[]>> = {
  'image-pull': [
    {
      match: /never|not present with pull policy/i,
      keys: ['pull_policy', 'image'],
      hint: (_, key) =>
        `\`${key}\` prevents the node from pulling the image: load it on the node, or change \`${key}\``,
    },
    {
      match: /unauthorized|denied|forbidden|authentication required|no basic auth/i,
      keys: ['image', 'build'],
      hint: () =>
        'the registry requires credentials, or the repository does not exist: `devctl deploy --registry-credentials` creates the pull secret',
    },
    {
      match: /no such host|dial tcp|i\/o timeout|connection refused|x509|HTTP response to HTTPS|deadline exceeded/i,
      keys: ['image', 'build'],
      hint: (_, key) => `the node cannot reach the registry in \`${key}\`, or does not trust its certificate`,
    },
    {
      match: /invalid(?:ImageName| reference format)/i,
      keys: ['image'],
      hint: () => 'write `image` as `registry/name:tag`',
    },
    {
      keys: ['image', 'build'],
      hint: (_, key) =>
        `check the name and tag${key === 'build' ? ' that `build` was pushed with' : ' of `image`'}; for a private registry, \`devctl deploy --registry-credentials\` creates the pull secret`,
    },
  ],
  'crash-loop': [],
  configuration: [
    {
      match: /secrets? "([^"]+)" (?:is )?(?:not found|forbidden)/,
      keys: ['secrets', 'environment', 'env_file', 'volumes'],
      item: named,
      message: (found, service) => `the Secret \`${found[1]}\` of \`${service}\` does not exist`,
      hint: (found, key) =>
        `create it in the namespace before the deploy, or change \`${key}\`: \`kubectl create secret generic ${found[1]} --from-file=…\``,
    },
    {
      match: /configmaps? "([^"]+)" (?:is )?(?:not found|forbidden)/,
      keys: ['configs', 'environment', 'volumes'],
      item: named,
      message: (found, service) => `the ConfigMap \`${found[1]}\` of \`${service}\` does not exist`,
      hint: (found, key) =>
        `create it in the namespace before the deploy, or change \`${key}\`: \`kubectl create configmap ${found[1]} --from-file=…\``,
    },
    {
      match: /couldn't find key (\S+) in (Secret|ConfigMap) (?:[^\s/]+\/)?(\S+)/,
      keys: ['environment', 'secrets', 'configs'],
      message: (found, service) => `the ${found[2]} \`${found[3]}\` of \`${service}\` has no key \`${found[1]}\``,
      hint: found => `add the key \`${found[1]}\` to it, or use another key`,
    },
    {
      match: /references non-existent (secret|config) key: (\S+)/,
      keys: ['secrets', 'configs', 'volumes'],
      message: (found, service) =>
        `a ${found[1] === 'secret' ? 'Secret' : 'ConfigMap'} of \`${service}\` has no key \`${found[2]}\``,
      hint: (found, key) => `\`${key}\` needs the key \`${found[2]}\`, which the object in the cluster does not have`,
    },
    {
      match: /persistentvolumeclaim "([^"]+)" not found/,
      keys: ['volumes'],
      item: named,
      hint: found => `\`volumes.${found[1]}\` is external: create the claim before the deploy`,
    },
    {
      match: /Multi-Attach|already (?:used by|exclusively attached)/i,
      keys: ['volumes'],
      hint: (_, key) =>
        `a volume of \`${key}\` is still attached to another node: wait until the Pod there has stopped, or set \`driver_opts.access: ReadWriteMany\` on the volume`,
    },
    {
      match: /exec: "([^"]+)": permission denied/,
      keys: PROGRAM,
      message: (found, service) => `\`${service}\` cannot execute \`${found[1]}\`: permission denied`,
      hint: (_, key) => `run it with a shell in \`${key}\`, or make it executable in the image`,
    },
    {
      match: NO_PROGRAM,
      keys: PROGRAM,
      message: (found, service) => `the image of \`${service}\` has no program \`${found[1] ?? found[2]}\``,
      hint: (_, key) => `set \`${key}\` to a program in the image; for a shell command, write \`["sh", "-c", "…"]\``,
    },
    {
      match: /chdir to cwd|working directory|\bcwd\b/i,
      keys: ['working_dir'],
      hint: () => '`working_dir` does not exist in the image, or the user cannot access it',
    },
    {
      match: /unable to find (?:user|group)|passwd file|runAsNonRoot|run as root|non-numeric user/i,
      keys: ['user'],
      hint: () => 'write `user` as numbers, such as `"1000:1000"`, of a user that may run the program',
    },
    {
      match: /error mounting "[^"]*" to rootfs at "([^"]+)"|not a directory|MountVolume|mount failed|FailedMount/i,
      keys: ['volumes', 'configs', 'secrets'],
      item: named,
      hint: (_, key) => `an entry of \`${key}\` cannot be mounted: a file cannot replace a folder, nor a folder a file`,
    },
    {
      match: /port is already allocated|address already in use|hostport/i,
      keys: ['ports'],
      hint: () => 'another Pod on the node uses the port: change `ports`, or remove `mode: host`',
    },
    { keys: [], hint: () => undefined },
  ],
  unschedulable: [
    {
      match: /free ports for the requested pod ports/,
      keys: ['ports', 'network_mode'],
      hint: (_, key) =>
        `another Pod uses the port on every suitable node: change \`${key}\`${key === 'ports' ? ', or remove `mode: host`' : ''}`,
    },
    {
      match:
        /volume node affinity conflict|unbound immediate PersistentVolumeClaims|persistentvolumeclaim "([^"]+)"|available persistent volumes/,
      keys: ['volumes'],
      item: named,
      hint: (_, key) =>
        `a volume of \`${key}\` cannot be used on any suitable node: it is on another node, or its \`driver_opts.class\` cannot provision it`,
    },
    {
      match: /pod affinity rules/,
      keys: ['volumes'],
      hint: (_, key) =>
        `a volume of \`${key}\` is shared, so all its Pods run on one node: free resources there, or set \`driver_opts.access: ReadWriteMany\` on the volume`,
    },
    {
      match: /pod anti-affinity rules/,
      keys: ['deploy.placement.max_replicas_per_node', 'scale', 'deploy.replicas'],
      hint: (_, key) => `there are fewer nodes than \`${key}\` needs`,
    },
    { match: /Insufficient memory/, keys: MEMORY_REQUEST, hint: lower('memory') },
    { match: /Insufficient cpu/, keys: CPU_REQUEST, hint: lower('cpu') },
    {
      match: /Insufficient (\S+?)[.,]?(?:\s|$)/,
      keys: ['deploy.resources.reservations.devices', 'gpus', 'deploy.resources'],
      hint: (found, key) => `\`${key}\` requests more \`${found[1]}\` than any node has free`,
    },
    {
      match: /node affinity\/selector|node\(s\) didn't match Pod's node/,
      keys: NODES,
      hint: (_, key) => `no node has the labels in \`${key}\`: \`kubectl get nodes --show-labels\` lists them`,
    },
    {
      match: /Too many pods/,
      keys: ['scale', 'deploy.replicas'],
      hint: () => 'the nodes have reached their maximum number of Pods: free some',
    },
    {
      match: /untolerated taint\S* \{node\.kubernetes\.io\/(?:not-ready|unreachable)/,
      keys: [],
      hint: () => 'a node is not ready: `kubectl get nodes` shows which, and `kubectl describe node NAME` why',
    },
    {
      match: /untolerated taint\S* \{([^:}]+)/,
      keys: NODES,
      hint: found => `nodes have the taint \`${found[1]}\`, which the Pods do not tolerate`,
    },
    {
      // Kubernetes 1.34 does not name the taints. A node that is not ready has a taint, too.
      match: /untolerated taint/,
      keys: NODES,
      hint: () =>
        'the nodes have taints that the Pods do not tolerate, or are not ready: `kubectl describe nodes` lists both',
    },
    { keys: [], hint: () => 'lower its requests, change its node selector, or free resources' },
  ],
  unhealthy: [
    {
      match: NO_PROGRAM,
      keys: CHECK,
      message: (found, service) =>
        `the healthcheck of \`${service}\` runs \`${found[1] ?? found[2]}\`, which its image does not have`,
      hint: () =>
        'use a program of the image in `healthcheck.test`, or write `healthcheck.http` with `path` and `port`, which needs none',
    },
    {
      match: /HTTP probe failed with statuscode: (\d+)/,
      keys: ['healthcheck.http.path', ...CHECK],
      hint: (found, key) => `it answers ${found[1]}: check the path and port in \`${key}\``,
    },
    {
      match: /connection refused/i,
      keys: ['healthcheck.http.port', ...CHECK],
      hint: (_, key) =>
        `nothing listens at the address in \`${key}\`; if it needs longer to start, raise \`healthcheck.start_period\``,
    },
    {
      match: /timed? ?out|deadline exceeded/i,
      keys: ['healthcheck.timeout', ...CHECK],
      hint: (_, key) =>
        `the check exceeds its timeout: raise \`${key === 'healthcheck.timeout' ? key : 'healthcheck.timeout'}\``,
    },
    {
      keys: CHECK,
      hint: () => 'if it needs longer to start, raise `healthcheck.start_period` or `retries`',
    },
  ],
  refused: [
    {
      match: /must specify (limits|requests)\.(memory|cpu)/,
      keys: ['deploy.resources'],
      hint: found =>
        `the quota requires \`deploy.resources.${found[1] === 'limits' ? 'limits' : 'reservations'}.${found[2] === 'cpu' ? 'cpus' : 'memory'}\``,
    },
    {
      match: /exceeded quota: [^,]+, requested: [^=]*(memory|cpu)=/,
      keys: [...MEMORY_REQUEST, ...CPU_REQUEST],
      hint: (_, key) => `free some of the quota, or lower \`${key}\` or \`scale\``,
    },
    {
      match: /quota/,
      keys: ['scale', 'deploy.replicas'],
      hint: (_, key) => `free some of the quota, or lower \`${key}\``,
    },
    {
      match: /(maximum|minimum) (memory|cpu) (?:usage|limit)/,
      keys: MEMORY_LIMIT,
      hint: found =>
        `the namespace has a ${found[1]}: change \`deploy.resources.limits.${found[2] === 'cpu' ? 'cpus' : 'memory'}\``,
    },
    {
      match: /must be less than or equal to memory limit of (\S+?)[:,]?(?:\s|$)/,
      keys: MEMORY_REQUEST,
      hint: found =>
        `the namespace gives containers without a limit one of ${found[1]}: add \`deploy.resources.limits.memory\``,
    },
    {
      match: /PodSecurity/,
      keys: ['privileged', 'network_mode', 'pid', 'ipc', 'cap_add'],
      hint: () => '`devctl render --policy restricted` reports what must change',
    },
    {
      match: /admission webhook "([^"]+)"/,
      keys: [],
      message: (found, service) => `the admission webhook \`${found[1]}\` denied the Pods of \`${service}\``,
      hint: () => 'its reason is above; ask the operators of the cluster',
    },
    { keys: [], hint: () => undefined },
  ],
  serves: [
    {
      // `condition` takes precedence over `restart`.
      keys: [CONDITION, 'restart'],
      hint: (found, key, value) =>
        `for a server, ${value === undefined ? 'write `restart: always`' : `set \`${key}\` to \`${key === CONDITION ? 'any' : 'always'}\``}, and let ${found[0]} wait with \`condition: service_healthy\``,
    },
  ],
  claim: [
    {
      match: /storageclass\S* "([^"]+)" not found/i,
      keys: ['volumes'],
      message: (found, service) =>
        `a claim of \`${service}\` cannot be bound: the storage class \`${found[1]}\` does not exist`,
      hint: () =>
        'change or remove `driver_opts.class` of the volume: `kubectl get storageclass` lists the storage classes',
    },
    {
      keys: ['volumes'],
      hint: () => '`kubectl get storageclass` lists the storage classes for `driver_opts.class`',
    },
  ],
}

function lower(what: string): Rule['hint'] {
  return (_, key, value) =>
    value === undefined
      ? `no node has enough free ${what}`
      : `no node has enough free ${what}: lower \`${key}\`, which is ${value}`
}

/** Paths of all keys at which problems are shown. */
export const HINT_KEYS: ReadonlySet<string> = new Set([
  ...Object.values(RULES).flatMap(rules => rules.flatMap(({ keys }) => keys)),
  ...MEMORY_LIMIT,
  ...PROGRAM,
  ...RESTART,
])

/**
 * Returns the remedy for a problem: the key of the service that the problem is about, and the value to set. `service`
 * is the service in the file, `name` its name.
 */
export function remedyOf(problem: ReportedProblem, service: Tree | undefined, name: string): Remedy {
  if (problem.code === 'crash-loop') return remedyOfEnds(problem, service, name)
  for (const rule of RULES[problem.code]) {
    const found = rule.match ? problem.detail.match(rule.match) : [problem.detail]
    if (found) return applied(rule, found, service, name)
  }
  return { place: undefined }
}

function applied(rule: Rule, found: Found, service: Tree | undefined, name: string): Remedy {
  const item = rule.item?.(found)
  const place = item === undefined ? undefined : itemPlace(service, rule.keys, item)
  const written = place ?? rule.keys.map(key => placeOfKey(service, key)).find(one => one !== undefined)
  const hint = rule.hint(found, written?.key ?? rule.keys[0] ?? '', written?.value)
  const message = rule.message?.(found, name)
  return { place: written?.span, ...(message !== undefined && { message }), ...(hint !== undefined && { hint }) }
}

/**
 * Returns the remedy for a container that exits, according to the reason why it was stopped, or to the program that it
 * could not run.
 */
function remedyOfEnds({ ends, check }: ReportedProblem, service: Tree | undefined, name: string): Remedy {
  const all = [`${ends?.exitCode ?? 0}`]
  const rule = (keys: readonly string[], hint: Rule['hint']) => applied({ keys, hint }, all, service, name)
  if (ends?.reason === 'OOMKilled')
    return rule(MEMORY_LIMIT, (_, key, value) =>
      value === undefined
        ? 'there is no memory limit, so the node itself ran out of memory: set `deploy.resources.reservations.memory`'
        : `raise its memory limit: \`${key}\`, which is ${value}`,
    )
  if (check !== undefined) return remedyOf({ code: 'unhealthy', detail: check }, service, name)
  const logs = `\`devctl logs ${name}\` shows more`
  if (ends?.exitCode === 0) {
    const hint = onceHintOf(service)
    return rule(hint?.includes('entrypoint') ? PROGRAM : RESTART, () => hint ?? logs)
  }
  if (ends?.exitCode === 127)
    return rule(PROGRAM, (_, key) => `127 means that a program was not found: check \`${key}\`; ${logs}`)
  if (ends?.exitCode === 126)
    return rule(PROGRAM, (_, key) => `126 means that a program is not executable: check \`${key}\`; ${logs}`)
  return rule([], () => logs)
}

/**
 * Returns the remedy for a Job that is still running at the deadline: the restart policy `on-failure`, which turned the
 * service into a Job, has to be changed if the service is a server.
 */
export function remedyOfOnFailure(services: Tree | undefined, key: string): Remedy {
  const written = [CONDITION, 'restart'].map(one => placeOfKey(get(services, key), one)).find(one => one !== undefined)
  const [policy, always] =
    written?.key === CONDITION ? [CONDITION, 'condition: any'] : (['restart', 'restart: always'] as const)
  return {
    place: written?.span,
    hint: `\`${policy}: on-failure\` makes it a Job, which is done when it exits: for a server, write \`${always}\``,
  }
}

interface Written {
  readonly key: string
  readonly span: Span
  /** Value of the key, if it is a scalar. */
  readonly value?: string
}

function placeOfKey(service: Tree | undefined, key: string): Written | undefined {
  const path = key.split('.')
  const parent = get(service, ...path.slice(0, -1))
  const found = entry(parent, path.at(-1)!)
  if (!found) return undefined
  const { value } = found
  return isScalar(value)
    ? { key, span: key === 'image' ? value.span : found.key, value: `\`${asWritten(value)}\`` }
    : { key, span: found.key }
}

/**
 * Returns a value as written in the file, such as `900M` instead of a number of bytes. For a value with a variable, or
 * with several lines, returns the resulting value.
 */
function asWritten({ span: { file, start, end }, value }: ScalarTree): string {
  const text = file.text.slice(start, end).replace(/^(["'])(.*)\1$/, '$2')
  return text === '' || /[$\n]/.test(text) ? String(value) : text
}

/**
 * Returns the list item that refers to a name in the cluster: `db_password` of `secrets: [db_password]` for the Secret
 * `db-password`. For the first key only, the item may also be just a part of the name, such as `token` for
 * `shop-token`. The other keys need the full name: the volume `db`, for example, has nothing to do with the Secret
 * `db-password`. Undefined if no item matches.
 */
function itemPlace(service: Tree | undefined, keys: readonly string[], name: string): Written | undefined {
  const itemOf = (key: string, isMeant: (written: string) => boolean): Written | undefined => {
    const tree = get(service, key)
    const item = isSeq(tree) ? tree.items.find(one => namesOf(one).some(isMeant)) : undefined
    return item && { key, span: item.span }
  }
  const isSame = (written: string) => written === name || toDnsLabel(written) === name
  for (const key of keys) {
    const found = itemOf(key, isSame)
    if (found) return found
  }
  return itemOf(keys[0]!, written => isWithin(name, written))
}

const namesOf = (item: Tree): readonly string[] =>
  isScalar(item)
    ? `${item.value}`.split(':')
    : isMap(item)
      ? ['source', 'target'].flatMap(key => {
          const value = get(item, key)
          return isScalar(value) ? [`${value.value}`] : []
        })
      : []

const isWithin = (name: string, written: string): boolean => {
  const label = toDnsLabel(written)
  return written !== '' && (name.endsWith(`-${label}`) || name.startsWith(`${label}-`))
}
