import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import type { Span } from '../../text/source.ts'
import { isMap, isSeq, type Tree } from '../../text/tree.ts'
import type { KubernetesMember } from '../../values/kubernetes/members.ts'

const ownedField = diagnostic({
  code: 'kubernetes/owned-field',
  severity: 'error',
  explain: `devctl sets this field of the object itself, from another key of the file, so \`x-kubernetes\` must not set it, too. The hint names the key. Names, namespaces and selectors cannot be changed: devctl finds its objects by them.`,
  text: (p: { member: string; field: string; hint: string }) => ({
    message: `devctl sets \`${p.field}\` of the ${NOUNS[p.member] ?? p.member} itself`,
    hint: p.hint,
  }),
})

const NOUNS: Readonly<Record<string, string>> = { pod: 'Pod', service: 'Service', serviceAccount: 'ServiceAccount' }

const use = (key: string) => `use \`${key}\``
const NAMES = 'remove it: devctl names its objects, and chooses their namespace'
const HANDS_OFF = 'remove it: devctl finds the Pods by it'

const RESOURCES = {
  'resources.limits.cpu': use('deploy.resources.limits.cpus'),
  'resources.limits.memory': use('deploy.resources.limits.memory'),
  'resources.requests.cpu': use('deploy.resources.reservations.cpus'),
  'resources.requests.memory': use('deploy.resources.reservations.memory'),
}

const UPDATES = use('deploy.update_config')

/**
 * Fields that devctl sets from other keys, each with a hint on what to use instead. `*` stands for any item of a list.
 */
const OWNED: Readonly<Record<KubernetesMember, Readonly<Record<string, string>>>> = {
  pod: {
    metadata: 'write `labels` and `annotations` directly below `pod`',
    containers:
      'use `container` for the container of the service; for another one, write a service with `network_mode: service:NAME`',
    initContainers: use('pre_start'),
    ephemeralContainers: 'remove it: only the API server accepts these containers, for a Pod that runs',
    hostname: use('hostname'),
    subdomain: use('container_name'),
    hostAliases: use('extra_hosts'),
    hostNetwork: use('network_mode: host'),
    hostPID: use('pid: host'),
    hostIPC: use('ipc: host'),
    hostUsers: use('userns_mode'),
    shareProcessNamespace: use('pid: service:NAME'),
    nodeSelector: use('x-node-selector'),
    nodeName: use('x-node-selector'),
    restartPolicy: use('restart'),
    runtimeClassName: use('runtime'),
    serviceAccount: use('serviceAccountName'),
    terminationGracePeriodSeconds: use('stop_grace_period'),
    'securityContext.sysctls': use('sysctls'),
    'securityContext.runAsUser': use('user'),
    'securityContext.runAsGroup': use('user'),
    'securityContext.windowsOptions': 'remove it: devctl creates Linux Pods',
    'volumes.*.hostPath': use('volumes'),
  },
  container: {
    name: NAMES,
    image: use('image'),
    imagePullPolicy: use('pull_policy'),
    command: use('entrypoint'),
    args: use('command'),
    workingDir: use('working_dir'),
    ports: use('ports'),
    stdin: use('stdin_open'),
    tty: use('tty'),
    restartPolicy: use('restart'),
    'env.*.value': use('environment'),
    ...RESOURCES,
    'securityContext.privileged': use('privileged'),
    'securityContext.capabilities': 'use `cap_add` and `cap_drop`',
    'securityContext.readOnlyRootFilesystem': use('read_only'),
    'securityContext.runAsUser': use('user'),
    'securityContext.runAsGroup': use('user'),
    'securityContext.windowsOptions': 'remove it: devctl creates Linux Pods',
  },
  workload: {
    metadata: 'write `labels` and `annotations` directly below `workload`',
    replicas: use('scale'),
    selector: HANDS_OFF,
    template: 'use `pod` and `container`',
    serviceName: NAMES,
    volumeClaimTemplates: 'use `volumes`; `claim` adds fields',
    strategy: UPDATES,
    updateStrategy: UPDATES,
    completions: use('scale'),
    parallelism: use('scale'),
    backoffLimit: use('restart: on-failure:N'),
    suspend: 'remove it: a deploy waits for the Job',
    ttlSecondsAfterFinished: 'remove it: the next deploy, or a GitOps controller, would run a deleted Job again',
    paused: 'remove it: a deploy waits for the Pods',
  },
  service: {
    metadata: 'write `labels` and `annotations` directly below `service`',
    selector: HANDS_OFF,
    ports: use('ports'),
    type: 'use `x-expose` of a port',
    loadBalancerClass: 'use `x-expose` of a port',
    loadBalancerSourceRanges: 'use `x-expose` of a port',
    clusterIP: 'use `deploy.endpoint_mode: dnsrr` for a Service without an address',
    clusterIPs: 'use `deploy.endpoint_mode: dnsrr` for a Service without an address',
    externalName: use('external_links'),
  },
  route: {
    metadata: 'write `labels` and `annotations` directly below `route`',
    rules: use('endpoints'),
    hostnames: use('endpoints'),
    tls: 'use `tls` of the endpoint',
    parentRefs: 'use `--gateway`, or `routes` of an environment in devctl.yml',
  },
  claim: {
    metadata: 'write `labels` and `annotations` directly below `claim`',
    accessModes: 'use `driver_opts.access` of the volume',
    storageClassName: 'use `driver_opts.class` of the volume',
    resources: 'use `driver_opts.size` of the volume',
    volumeMode: 'remove it: containers mount the volume as a folder',
  },
  serviceAccount: {
    metadata: 'write `labels` and `annotations` directly below `serviceAccount`',
    apiVersion: 'remove it',
    kind: 'remove it',
  },
}

/** Reports fields that devctl sets itself. Returns true if there are any. */
export function reportOwned(member: KubernetesMember, tree: Tree, reporter: Reporter): boolean {
  let isOwned = false
  for (const [field, hint] of Object.entries(OWNED[member]))
    for (const span of keysAt(tree, field.split('.'))) {
      reporter.report(ownedField, span, { member, field: field.replace('.*', ''), hint })
      isOwned = true
    }
  return isOwned
}

/** Yields the positions of the keys at a path. `*` stands for any item of a list. */
function* keysAt(tree: Tree, [key = '', ...rest]: readonly string[]): Generator<Span> {
  if (key === '*') {
    for (const item of isSeq(tree) ? tree.items : []) yield* keysAt(item, rest)
    return
  }
  const found = isMap(tree) ? tree.entries.get(key) : undefined
  if (!found) return
  if (rest.length === 0) yield found.key
  else yield* keysAt(found.value, rest)
}
