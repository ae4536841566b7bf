import { cli } from '../schema/row.ts'
import type { Row } from '../schema/shape.ts'
import {
  anyOf,
  command,
  either,
  flag,
  integer,
  keyValues,
  list,
  object,
  record,
  type Shape,
  textOrList,
  word,
} from '../schema/shape.ts'
import { dnsName, filled, forward } from './values-shape.ts'

// The keys of a development container. `onlyMain` lists the keys that only the main container may have, not the
// additional ones.

/** The shape of a structure that Kubernetes defines: any mapping, because the API server checks its fields. */
const kubernetes: Shape = { map: record({ any: true }).map! }

const quantities = record(anyOf('string', 'number'), { called: 'RESOURCE' })
const resources: Shape = object({
  requests: cli(quantities, 'requests, as `cpu: 500m`'),
  limits: cli(quantities, 'limits'),
})

// The reader of the value reports negative values.
const duration = either(filled(), integer())

const sync: Shape = either(
  list(filled()),
  object(
    {
      folders: cli(list(filled()), 'the folders, as `LOCAL:REMOTE`'),
      compression: cli(flag(), 'compress transfers', '`false`'),
      verbose: cli(flag(), 'log every file', '`false`'),
      rescanInterval: cli(integer({ minimum: 0 }), 'seconds between two scans of all files', '300'),
    },
    { required: ['folders'] },
  ),
)

const capability = list(filled())

/** Keys that the main container and the additional containers share. */
const shared: Readonly<Record<string, Row>> = {
  name: cli(filled(), 'name of the application', 'the key'),
  image: cli(filled(), 'image of the container', 'the image of the application'),
  command: cli(command(), 'command to run; text with a space is run by a shell', '`sh`'),
  args: cli(command(), 'arguments of the command'),
  workdir: cli(filled(), 'working directory of the command', 'the one of the container'),
  container: cli(filled(), 'the container of the Pod to replace', 'the first one'),
  selector: cli(
    record(anyOf('string', 'number', 'boolean')),
    'labels to select the application with, instead of its name',
  ),
  environment: cli(keyValues(), 'variables of the container; `NAME` alone takes the value on this machine'),
  envFiles: cli(textOrList(), 'env files'),
  sync: cli(sync, 'folders to synchronise, as `LOCAL:REMOTE`'),
  replicas: cli(integer({ minimum: 0 }), 'number of Pods'),
  resources: cli(resources, 'resources of the container, instead of the application’s'),
  metadata: cli(
    object({ labels: cli(keyValues(), 'labels'), annotations: cli(keyValues(), 'annotations') }),
    'additional labels and annotations',
  ),
  nodeSelector: cli(record(anyOf('string', 'number', 'boolean')), 'node labels, instead of the application’s'),
  tolerations: cli(list(kubernetes), 'additional tolerations'),
  affinity: cli(kubernetes, 'affinity, instead of the application’s'),
  imagePullPolicy: cli(word(['Always', 'IfNotPresent', 'Never']), 'when to pull the image', '`Always`'),
}

const probes: Shape = either(
  flag(),
  object({
    liveness: cli(flag(), 'keep the liveness probe', '`false`'),
    readiness: cli(flag(), 'keep the readiness probe', '`false`'),
    startup: cli(flag(), 'keep the startup probe', '`false`'),
  }),
)

const hook: Shape = either(
  flag(),
  object({
    enabled: cli(flag(), 'keep the hook of the application'),
    command: cli(command(), 'command to run instead'),
  }),
)

const onlyMain: Readonly<Record<string, Row>> = {
  mode: cli(word(['sync', 'hybrid']), '`hybrid` runs the command on this machine', '`sync`'),
  autocreate: cli(flag(), 'create a container if the application does not exist', '`false`'),
  volumes: cli(list(filled()), 'paths in the container to persist'),
  externalVolumes: cli(list(filled()), 'claims to mount, as `CLAIM:PATH` or `CLAIM:SUBPATH:PATH`'),
  secrets: cli(list(filled()), 'files to copy from this machine, as `LOCAL:REMOTE` or `LOCAL:REMOTE:MODE`'),
  forward: cli(
    list(forward('port of the container, or of the service', 'a service instead of the container')),
    'ports to forward to this machine, as `LOCAL:REMOTE` or `LOCAL:SERVICE:REMOTE`',
  ),
  reverse: cli(list(filled()), 'ports of this machine to forward to the container, as `REMOTE:LOCAL`'),
  remote: cli(integer({ minimum: 0, maximum: 65535 }), 'local port of the SSH server', 'a free port'),
  sshServerPort: cli(integer({ minimum: 1025, maximum: 65535 }), 'port of the SSH server in the container', '2222'),
  interface: cli(filled(), 'local address to bind the ports to', '`localhost`'),
  persistentVolume: cli(
    object({
      enabled: cli(flag(), 'keep synchronised files in a claim', '`true`'),
      size: cli(either(filled(), integer()), 'size of the claim', '`5Gi`'),
      storageClass: cli(dnsName(), 'its storage class', 'the default of the cluster'),
      accessMode: cli(
        word(['ReadWriteOnce', 'ReadWriteMany', 'ReadOnlyMany', 'ReadWriteOncePod']),
        'its access mode',
        '`ReadWriteOnce`',
      ),
      volumeMode: cli(word(['Filesystem', 'Block']), 'its volume mode', '`Filesystem`'),
      labels: cli(keyValues(), 'its labels'),
      annotations: cli(keyValues(), 'its annotations'),
    }),
    'the claim of the container',
  ),
  securityContext: cli(
    object({
      runAsUser: cli(integer({ minimum: 0 }), 'user'),
      runAsGroup: cli(integer({ minimum: 0 }), 'group', 'the user'),
      fsGroup: cli(integer({ minimum: 0 }), 'group of volumes', 'the user'),
      runAsNonRoot: cli(flag(), 'refuse root'),
      allowPrivilegeEscalation: cli(flag(), 'allow privilege escalation'),
      readOnlyRootFilesystem: cli(flag(), 'make the root file system read-only'),
      capabilities: cli(
        object({ add: cli(capability, 'capabilities to add'), drop: cli(capability, 'capabilities to drop') }),
        'capabilities of the container',
      ),
    }),
    'security settings of the container',
  ),
  serviceAccount: cli(dnsName(), 'service account', 'the one of the application'),
  priorityClassName: cli(dnsName(), 'priority class', 'the one of the application'),
  probes: cli(probes, 'probes of the application to keep', 'none'),
  lifecycle: cli(
    either(flag(), object({ postStart: cli(hook, 'hook after the start'), preStop: cli(hook, 'hook before the end') })),
    'hooks of the application to keep, or replacements',
    'none',
  ),
  initContainer: cli(
    object({ image: cli(filled(), 'its image'), resources: cli(resources, 'its resources') }),
    'the init container with devctl’s programs',
  ),
  timeout: cli(
    either(
      duration,
      object({
        default: cli(duration, 'for each step', '`60s`'),
        resources: cli(duration, 'for the container to get its resources', '`120s`'),
      }),
    ),
    'deadlines, such as `2m`; a number is seconds',
  ),
}

/** The shape of an additional container, without the keys that only the main container can have. */
const besides: Shape = object(shared, { required: ['sync'] })

const { replicas: _, ...mainKeys } = shared

/** The keys that only the main container accepts, for hints. */
export const onlyMainKeys: readonly string[] = Object.keys(onlyMain)

/** The shape of a development container. */
export const developmentContainer: Shape = object({
  ...mainKeys,
  ...onlyMain,
  services: cli(list(besides), 'other applications that get the same files'),
})
