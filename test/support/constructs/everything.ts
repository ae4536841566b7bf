import type { Plan } from '../../../compiler/plan/plan.ts'
import { bytes, containerOf, deploymentOf, object, planOf, podOf } from './plans.ts'

const busybox = 'busybox:1.37'

/** A plan that sets every field of plan.ts somewhere. It makes no sense as an application, but a cluster takes it. */
export const everything: Plan = planOf({
  environment: { name: 'all', namespace: 'dev' },
  configMaps: [
    {
      name: 'all-files',
      source: 'compose.yaml#configs.files',
      annotations: { note: 'no' },
      data: {
        'b.txt': bytes('b\n'),
        'a.bin': new Uint8Array([0, 255]),
        'crlf.txt': bytes('a\r\nb\r\n'),
        empty: bytes(''),
      },
    },
  ],
  secrets: [{ name: 'all-key', source: 'compose.yaml#secrets.key', data: { key: bytes('hunter2') } }],
  claims: [
    {
      name: 'data',
      source: 'compose.yaml#volumes.data',
      annotations: { 'dev.platform/policy': 'keep' },
      spec: { name: 'data', size: '1Gi', storageClass: 'fast', accessMode: 'ReadWriteMany', annotations: { a: 'b' } },
    },
  ],
  services: [
    {
      ...object('full'),
      annotations: { owner: 'team' },
      selects: { service: 'full' },
      headless: true,
      ports: [
        { name: 'tcp-53', port: 53, targetPort: 5353, protocol: 'TCP', appProtocol: 'http' },
        { name: 'udp-53', port: 53, targetPort: 5353, protocol: 'UDP' },
      ],
    },
    { ...object('alias'), service: 'full', selects: { label: 'alias.devctl/alias' }, headless: false, ports: [] },
    {
      ...object('outside'),
      selects: { service: 'outside' },
      headless: false,
      ports: [],
      externalName: 'db.example.com',
    },
  ],
  routes: [
    {
      ...object('full'),
      kind: 'Ingress',
      isOwnHost: false,
      annotations: { 'example.com/rate': '10' },
      host: 'full-dev.example.com',
      rules: [
        { path: '/', service: 'full', port: 53 },
        { path: '/api', service: 'full', port: 53 },
      ],
      ingressClassName: 'nginx',
      tlsSecret: 'wildcard',
    },
    {
      ...object('gate'),
      kind: 'HTTPRoute',
      isOwnHost: false,
      host: 'gate-dev.example.com',
      rules: [{ path: '/', service: 'full', port: 53 }],
      gateway: { namespace: 'infra', name: 'public' },
    },
  ],
  policies: [
    { name: 'closed', source: 'compose.yaml#networks', podLabels: {}, ingress: [], egress: [] },
    {
      name: 'backend',
      source: 'compose.yaml#networks.backend',
      podLabels: { 'network.devctl/backend': 'true' },
      ingress: [{ podLabels: { 'network.devctl/backend': 'true' } }, { ports: [{ port: 80, protocol: 'TCP' }] }],
      egress: [{ dns: true }, { podLabels: { 'network.devctl/backend': 'true' } }, {}],
    },
  ],
  workloads: [
    deploymentOf(
      'full',
      {
        services: ['full', 'helper'],
        labels: { 'alias.devctl/alias': 'true', 'dev.platform/volume-data': 'true' },
        annotations: { 'example.com/b': '2', 'example.com/a': '1' },
        waits: [
          { kind: 'port', service: 'web', host: 'web', ports: [80], image: busybox },
          { kind: 'name', service: 'db', host: 'db', image: busybox },
          { kind: 'job', service: 'migrate', image: 'registry.k8s.io/kubectl:v1.34.2', toolsImage: busybox },
        ],
        fills: [
          fill('data', "it's here"),
          fill('data', 'nested/dir'),
          { ...fill('cache', 'cache'), rootless: true, security: { runAsUser: 1000 } },
        ],
        init: [
          containerOf({ name: 'pre-start-1', command: ['prepare'] }),
          containerOf({
            name: 'helper',
            sidecar: true,
            startupProbe: { check: { kind: 'tcp', port: 6379 }, periodSeconds: 1 },
          } as Parameters<typeof containerOf>[0]),
        ],
        volumes: [
          { kind: 'claim', name: 'data', claim: 'data', readOnly: false },
          { kind: 'claim', name: 'read-only', claim: 'data', readOnly: true },
          {
            kind: 'ephemeral',
            name: 'cache',
            spec: {
              name: 'cache',
              size: '2Gi',
              accessMode: 'ReadWriteOnce',
              storageClass: 'fast',
              annotations: { c: 'd' },
            },
          },
          { kind: 'memory', name: 'shm', sizeLimit: '64Mi' },
          { kind: 'memory', name: 'tools' },
          { kind: 'empty', name: 'scratch' },
          {
            kind: 'configMap',
            name: 'files',
            configMap: 'all-files',
            mode: 0o644,
            items: [{ key: 'b.txt', path: 'b.txt', mode: 0o755 }],
          },
          { kind: 'secret', name: 'key', secret: 'all-key', mode: 0o400, items: [{ key: 'key', path: 'key.pem' }] },
          { kind: 'nfs', name: 'nfs', server: 'nfs.example.com', path: '/exports', readOnly: true },
          { kind: 'image', name: 'model', reference: 'example.com/model:1', pullPolicy: 'IfNotPresent' },
          { kind: 'hostPath', name: 'host', path: '/var/log', type: 'Directory' },
        ],
        containers: [
          containerOf({
            name: 'full',
            imagePullPolicy: 'Always',
            command: ['sh', '-c', 'echo $$ $(hostname) $HOME'],
            args: ['$(A)', '$$', '$x'],
            workingDir: '/srv',
            env: [
              { name: 'EMPTY', value: '' },
              { name: 'PASSWORD', value: 'a$$b$(c)$d' },
            ],
            ports: [
              { name: 'tcp-5353', port: 5353, protocol: 'TCP', hostPort: 5353 },
              { name: 'udp-5353', port: 5353, protocol: 'UDP', hostPort: 5353 },
            ],
            readinessProbe: {
              check: { kind: 'http', path: '/ready', port: 5353 },
              initialDelaySeconds: 1,
              periodSeconds: 2,
              timeoutSeconds: 3,
              failureThreshold: 4,
            },
            livenessProbe: { check: { kind: 'exec', command: ['sh', '-c', 'test $$ = $(pidof x)'] } },
            startupProbe: { check: { kind: 'tcp', port: 5353 } },
            postStart: ['sh', '-c', 'echo $$ $(date)'],
            preStop: ['sleep', '1'],
            resources: {
              requests: { memory: '64Mi', cpu: '0.1' },
              limits: { memory: '128Mi', cpu: '1', 'ephemeral-storage': '1Gi' },
            },
            mounts: [
              { volume: 'data', path: '/data', subPath: 'data', propagation: 'HostToContainer' },
              { volume: 'files', path: '/etc/b.txt', subPath: 'b.txt', readOnly: true, recursiveReadOnly: true },
            ],
            security: {
              runAsUser: 1000,
              runAsGroup: 0,
              runAsNonRoot: true,
              privileged: false,
              readOnlyRootFilesystem: true,
              allowPrivilegeEscalation: false,
              capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
              seccompProfile: { type: 'Localhost', localhostProfile: 'profiles/a.json' },
              appArmorProfile: { type: 'Localhost', localhostProfile: 'a' },
              seLinuxOptions: { user: 'u', role: 'r', type: 't', level: 's0' },
            },
            stdin: true,
            tty: true,
          }),
          containerOf({
            name: 'privileged',
            security: {
              privileged: true,
              seccompProfile: { type: 'Unconfined' },
              appArmorProfile: { type: 'Unconfined' },
            },
            mounts: [{ volume: 'host', path: '/host', propagation: 'Bidirectional' }],
          }),
        ],
        terminationGracePeriodSeconds: 0,
        hostname: 'full',
        subdomain: 'full',
        hostNetwork: true,
        hostPID: true,
        hostIPC: true,
        shareProcessNamespace: false,
        runtimeClassName: 'gvisor',
        hostAliases: [{ ip: '10.1.2.3', hostnames: ['one', 'two'] }],
        dns: {
          nameservers: ['1.1.1.1'],
          searches: ['example.com'],
          options: [{ name: 'ndots', value: '2' }, { name: 'use-vc' }],
        },
        supplementalGroups: [44, 107],
        fsGroup: 1000,
        nodeSelector: { 'kubernetes.io/arch': 'amd64', disk: 'ssd' },
        nodeRequirements: [
          { key: 'zone', operator: 'In', values: ['a', 'b'] },
          { key: 'spot', operator: 'DoesNotExist' },
          { key: 'metadata.name', operator: 'In', values: ['node-1'], field: true },
        ],
        colocate: ['dev.platform/volume-data'],
        spreadOut: true,
        topologyKeys: ['topology.kubernetes.io/zone'],
      },
      {
        replicas: 0,
        annotations: { owner: 'team' },
        update: { type: 'RollingUpdate', maxSurge: '25%', maxUnavailable: 0 },
        minReadySeconds: 5,
        progressDeadlineSeconds: 300,
      },
    ),
    deploymentOf(
      'recreated',
      {
        hostUsers: false,
        shareProcessNamespace: true,
        sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
      },
      { update: { type: 'Recreate' } },
    ),
    {
      kind: 'StatefulSet',
      ...object('db'),
      serviceName: 'db',
      replicas: 3,
      update: { type: 'OnDelete' },
      minReadySeconds: 1,
      claimTemplates: [
        { name: 'var-lib', size: '5Gi', accessMode: 'ReadWriteOncePod', storageClass: 'fast', annotations: { a: 'b' } },
      ],
      pod: podOf({
        services: ['db'],
        containers: [
          containerOf({
            name: 'db',
            mounts: [{ volume: 'var-lib', path: '/var/lib' }],
            security: {
              runAsUser: 1000,
              allowPrivilegeEscalation: false,
              capabilities: { drop: ['ALL'] },
            },
          }),
        ],
        fills: [{ ...fill('var-lib', 'data'), rootless: true }],
        waits: [{ kind: 'name', service: 'web', host: 'web', image: busybox }],
        runAsNonRoot: true,
        fsGroup: 1000,
      }),
    },
    {
      kind: 'DaemonSet',
      ...object('agent'),
      update: { type: 'RollingUpdate', maxUnavailable: 1 },
      minReadySeconds: 1,
      pod: podOf({ services: ['agent'], containers: [containerOf({ name: 'agent' })] }),
    },
    {
      kind: 'Job',
      ...object('migrate'),
      waitsSource: 'compose.yaml#services.migrate.depends_on',
      restartPolicy: 'OnFailure',
      backoffLimit: 6,
      completions: 2,
      pod: podOf({
        services: ['migrate'],
        containers: [containerOf({ name: 'migrate' })],
        waits: [{ kind: 'job', service: 'prepare', image: 'registry.k8s.io/kubectl:v1.34.2', toolsImage: busybox }],
      }),
    },
    {
      kind: 'Job',
      ...object('prepare'),
      restartPolicy: 'Never',
      backoffLimit: 0,
      pod: podOf({
        services: ['prepare'],
        containers: [containerOf({ name: 'prepare', security: { procMount: 'Unmasked' } })],
        hostUsers: false,
      }),
    },
  ],
})

function fill(volume: string, directory: string) {
  return {
    volume,
    directory,
    path: '/srv/it\'s "$HOME"',
    image: 'nginx:1.27',
    imagePullPolicy: 'IfNotPresent',
    toolsImage: busybox,
    rootless: false,
  } as const
}
