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

// The fields of a development container. What a container beside the main one may not have is in one list: `onlyMain`.

/** Kubernetes' own structures: the API server knows their fields. */
const kubernetes: Shape = { map: record({ any: true }).map! }

const quantities = record(anyOf('string', 'number'), { called: 'RESOURCE' })
const resources: Shape = object({
  requests: cli(quantities, 'what is reserved, as `cpu: 500m`'),
  limits: cli(quantities, 'what it may use at most'),
})

// What is below zero, the reader of the value says.
const duration = either(filled(), integer())

const sync: Shape = either(
  list(filled()),
  object(
    {
      folders: cli(list(filled()), 'the folders, as `LOCAL:REMOTE`'),
      compression: cli(flag(), 'compress what is sent', '`false`'),
      verbose: cli(flag(), 'tell each file', '`false`'),
      rescanInterval: cli(integer({ minimum: 0 }), 'seconds between two looks at all files', '300'),
    },
    { required: ['folders'] },
  ),
)

const capability = list(filled())

/** What the main container and those beside it may have. */
const shared: Readonly<Record<string, Row>> = {
  name: cli(filled(), 'name of the application', 'the key'),
  image: cli(filled(), 'image of the container', 'that of the application'),
  command: cli(command(), 'what runs in it; text with a blank is run by a shell', '`sh`'),
  args: cli(command(), 'arguments of the command'),
  workdir: cli(filled(), 'folder in which the command runs', 'that of the container'),
  container: cli(filled(), 'the container of the Pod that is replaced', 'the first one'),
  selector: cli(record(anyOf('string', 'number', 'boolean')), 'labels that find the application, in place of its name'),
  environment: cli(keyValues(), 'variables of the container; `NAME` alone takes the value on this machine'),
  envFiles: cli(textOrList(), 'files with more of them'),
  sync: cli(sync, 'folders that are kept the same on both sides, as `LOCAL:REMOTE`'),
  replicas: cli(integer({ minimum: 0 }), 'how many containers run'),
  resources: cli(resources, 'resources of the container, in place of the application’s'),
  metadata: cli(
    object({ labels: cli(keyValues(), 'labels'), annotations: cli(keyValues(), 'annotations') }),
    'labels and annotations that are added',
  ),
  nodeSelector: cli(record(anyOf('string', 'number', 'boolean')), 'labels of the node, in place of the application’s'),
  tolerations: cli(list(kubernetes), 'tolerations that are added'),
  affinity: cli(kubernetes, 'affinity, in place of the application’s'),
  imagePullPolicy: cli(word(['Always', 'IfNotPresent', 'Never']), 'when the image is pulled', '`Always`'),
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
    command: cli(command(), 'what runs in its place'),
  }),
)

const onlyMain: Readonly<Record<string, Row>> = {
  mode: cli(word(['sync', 'hybrid']), '`hybrid` runs the command on this machine', '`sync`'),
  autocreate: cli(flag(), 'make a container where there is no application', '`false`'),
  volumes: cli(list(filled()), 'paths in the container that outlive it'),
  externalVolumes: cli(list(filled()), 'claims that are mounted, as `CLAIM:PATH` or `CLAIM:SUBPATH:PATH`'),
  secrets: cli(list(filled()), 'files of this machine in the container, as `LOCAL:REMOTE` or `LOCAL:REMOTE:MODE`'),
  forward: cli(
    list(forward('port of the container, or of the service', 'a service in place of the container')),
    'ports that are reachable on this machine, as `LOCAL:REMOTE` or `LOCAL:SERVICE:REMOTE`',
  ),
  reverse: cli(list(filled()), 'ports of this machine that are reachable in the container, as `REMOTE:LOCAL`'),
  remote: cli(integer({ minimum: 0, maximum: 65535 }), 'local port of the SSH server', 'a free one'),
  sshServerPort: cli(integer({ minimum: 1025, maximum: 65535 }), 'port of the SSH server in the container', '2222'),
  interface: cli(filled(), 'address of this machine that the ports are bound to', '`localhost`'),
  persistentVolume: cli(
    object({
      enabled: cli(flag(), 'keep what is synchronised in a claim', '`true`'),
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
      allowPrivilegeEscalation: cli(flag(), 'let processes gain rights'),
      readOnlyRootFilesystem: cli(flag(), 'make the root file system read-only'),
      capabilities: cli(
        object({ add: cli(capability, 'capabilities to add'), drop: cli(capability, 'capabilities to drop') }),
        'capabilities of the container',
      ),
    }),
    'security settings of the container',
  ),
  serviceAccount: cli(dnsName(), 'service account', 'that of the application'),
  priorityClassName: cli(dnsName(), 'priority class', 'that of the application'),
  probes: cli(probes, 'probes of the application that stay', 'none'),
  lifecycle: cli(
    either(flag(), object({ postStart: cli(hook, 'hook after the start'), preStop: cli(hook, 'hook before the end') })),
    'hooks of the application that stay, or other ones',
    'none',
  ),
  initContainer: cli(
    object({ image: cli(filled(), 'its image'), resources: cli(resources, 'its resources') }),
    'the container that brings devctl’s own programs',
  ),
  timeout: cli(
    either(
      duration,
      object({
        default: cli(duration, 'for each step', '`60s`'),
        resources: cli(duration, 'for the container to get its resources', '`120s`'),
      }),
    ),
    'how long to wait, such as `2m`; a number counts seconds',
  ),
}

/** Beside the main container, and with nothing that only one of them can have. */
const besides: Shape = object(shared, { required: ['sync'] })

const { replicas: _, ...mainKeys } = shared

/** The keys that only the main container takes, and the one that it does not take, for hints. */
export const onlyMainKeys: readonly string[] = Object.keys(onlyMain)

/** A development container. */
export const developmentContainer: Shape = object({
  ...mainKeys,
  ...onlyMain,
  services: cli(list(besides), 'other applications that get the same files'),
})
