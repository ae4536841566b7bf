import { createHash } from 'node:crypto'
import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import {
  BUILD_NAMESPACE,
  BUILDERS_SECRET,
  KEEPER,
  KEYS_SECRET,
  LOGIN_SECRET,
  PLATFORM_NAMESPACE,
  REGISTRY_DISK,
  REGISTRY_SECRET,
  RUNS_ADDRESS,
  RUNS_NAMESPACE,
  RUNS_PORT,
  SERVER_ACCOUNT,
  USERS_NAMESPACE,
} from '../records/names.ts'
import { namespaceNamed, toDns, toOutside } from '../records/network-rules.ts'
import { OWN_WORKLOADS } from '../records/own-workload.ts'
import type { ProviderSettings } from '../rules/provider.ts'
import { type BundledBuilders, builderObjects, builderSettings, type IngressPeer } from './builders.ts'
import { certificateOf } from './certificate.ts'
import { eventsPolicy } from './events.ts'
import { fence } from './fence.ts'
import { hostsPolicy } from './hosts.ts'
import { type IngressOptions, ingressTo } from './ingress.ts'
import { networkPoliciesPolicy } from './network-policies.ts'
import { podImagesPolicy } from './pod-images.ts'
import { podsPolicy } from './pods.ts'
import { registryObjects } from './registry.ts'
import { keeperRole, memberRoles } from './roles.ts'

/** An address as a network, and a port of TCP there. */
export interface NetworkAddress {
  readonly cidr: string
  readonly port: number
}

/** What an operator decides about a platform. */
export interface Installation extends IngressOptions {
  readonly version: string
  /** Environments get their hosts under it, and the platform is `platform.DOMAIN`. */
  readonly domain: string
  /** The image of the server. */
  readonly image: string
  /** What runs run in: Node, git, and devctl. */
  readonly runnerImage: string
  readonly replicas: number
  /** The certificate is of an authority of the platform's own. */
  readonly ownCa?: boolean
  /** The ClusterIssuer of cert-manager that makes the certificate. */
  readonly certManager?: string
  /** Networks of the cluster itself, which nothing in a namespace reaches. */
  readonly clusterNetworks?: readonly string[]
  /** Where Pods reach the API server: its Service, and what is behind that. */
  readonly apiServer?: readonly NetworkAddress[]
  /** From where `X-Forwarded-For` is believed: addresses and networks; absent: those of before. */
  readonly trustedProxies?: readonly string[]
  /** The API server as people's programs reach it. */
  readonly kubernetes: { readonly server: string; readonly ca?: string }
  /** How people log in, besides links. */
  readonly providers?: readonly ProviderSettings[]
  /** What an administrator has written into the settings, as `undecided` gives it. */
  readonly kept?: Readonly<Record<string, unknown>>
  /** Of the images of people: a host, perhaps with a path; absent: that of before. */
  readonly registry?: string
  /** The registry believes tokens of the platform. */
  readonly hasRegistryTokens?: boolean
  /** The registry is the platform's own one. */
  readonly bundledRegistry?: { readonly image: string; readonly size: string }
  /** Builders that come with the platform. */
  readonly bundledBuilders?: Pick<BundledBuilders, 'image' | 'count' | 'size' | 'networks'>
  /** Where the ingress controller is, as Pods reach it. */
  readonly ingressPeers?: readonly IngressPeer[]
  /** PEM: authorities that the server trusts besides those of its system. */
  readonly trusted?: string
}

const NAME = 'platform'
const PORT = 8080
/** Of the ConfigMap `settings`. */
export const SETTINGS_FILE = 'settings.json'
export const TRUSTED_FILE = 'ca.pem'
const RBAC = 'rbac.authorization.k8s.io'
const SELECTOR = { 'app.kubernetes.io/name': NAME }
const LABELS = { ...SELECTOR, 'app.kubernetes.io/part-of': 'devctl' }

export const urlOf = ({ domain }: Pick<Installation, 'domain'>): string => `https://platform.${domain}`

/** All objects of a platform, in the order in which they are applied (design, sections 2, 3 and 12). */
export function platformObjects(one: Installation): readonly KubeObject[] {
  return [
    ...[PLATFORM_NAMESPACE, USERS_NAMESPACE, RUNS_NAMESPACE].map(namespace),
    ...memberRoles(),
    keeperRole(),
    ...fence(SERVER_ACCOUNT),
    runsNetworkPolicy(one),
    serverNetworkPolicy,
    ...hostsPolicy(one.domain),
    ...networkPoliciesPolicy(),
    ...podsPolicy(),
    ...podImagesPolicy(one.registry),
    ...eventsPolicy(),
    // Before the server, which starts with a certificate that they know.
    ...(one.bundledBuilders
      ? [
          ...builderObjects({ ...withNetworks(one), ...one.bundledBuilders }),
          ...granted(BUILD_NAMESPACE, [seen('builders')]),
        ]
      : []),
    account(),
    ...rights(),
    settings(one),
    deployment(one),
    service(),
    ingress(one),
    wakerIngress(one),
    ...(one.certManager === undefined ? [] : [certificateOf(one.domain, one.certManager)]),
    ...(one.bundledRegistry ? registryObjects({ ...one, ...one.bundledRegistry, url: urlOf(one) }) : []),
  ]
}

const withNetworks = ({ clusterNetworks = [], ingressPeers: ingress = [], trusted }: Installation) => ({
  clusterNetworks,
  ingress,
  ...(trusted !== undefined && { trusted }),
})

/** What may be there from before, and is not wanted any more. Volumes stay, as they have what people have made. */
export function unwantedObjects(one: Installation): readonly KubeObject[] {
  const wanted = new Set(platformObjects(one).map(nameOf))
  return platformObjects({ ...one, ...EVERYTHING }).filter(object => !wanted.has(nameOf(object)))
}

/** All that an option can add. */
export const EVERYTHING = {
  certManager: '',
  bundledRegistry: { image: '', size: '1Gi' },
  bundledBuilders: { image: '', size: '1Gi', count: 1, networks: [] },
}

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`

/** Its own namespaces are not managed: people have no rights in them, and no policy lets others in. */
const namespace = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name,
    labels: { 'app.kubernetes.io/part-of': 'devctl', 'pod-security.kubernetes.io/enforce': 'restricted' },
  },
})

const own = (name: string) => ({ name, namespace: PLATFORM_NAMESPACE, labels: LABELS })

const account = (): KubeObject => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: own(SERVER_ACCOUNT) })

const KEEP = ['get', 'list', 'watch', 'create', 'update', 'patch']
const WRITE = [...KEEP, 'delete']

/** The rights of the server's own account; what it does for a person it does with that person's token. */
const rights = (): readonly KubeObject[] => [
  ...granted(undefined, [
    { apiGroups: [''], resources: ['namespaces'], verbs: WRITE },
    // These go with their namespaces only: without them, what runs there would have no bounds.
    { apiGroups: [''], resources: ['resourcequotas', 'limitranges'], verbs: KEEP },
    { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: KEEP },
    { apiGroups: [RBAC], resources: ['rolebindings'], verbs: WRITE },
    {
      apiGroups: [RBAC],
      resources: ['clusterroles'],
      verbs: ['bind'],
      resourceNames: ['devctl-developer', 'devctl-viewer', KEEPER],
    },
  ]),
  ...granted(USERS_NAMESPACE, [
    { apiGroups: [''], resources: ['serviceaccounts', 'secrets'], verbs: WRITE },
    { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
  ]),
  ...granted(RUNS_NAMESPACE, [
    { apiGroups: ['batch'], resources: ['jobs'], verbs: WRITE },
    { apiGroups: [''], resources: ['serviceaccounts', 'secrets'], verbs: WRITE },
    { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'delete'] },
    { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
  ]),
  // For the one replica that leads.
  ...granted(PLATFORM_NAMESPACE, [
    // What has measured the disk of the registry.
    { apiGroups: [''], resources: ['pods/log'], resourceNames: [REGISTRY_DISK.pod], verbs: ['get'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update', 'delete'] },
    seen('server'),
    seen('registry'),
  ]),
]

/** What administrators see of the platform's own workloads; no secret is in them. */
const seen = (workload: keyof typeof OWN_WORKLOADS) => {
  const { kind, name } = OWN_WORKLOADS[workload]
  return { apiGroups: ['apps'], resources: [`${kind.toLowerCase()}s`], resourceNames: [name], verbs: ['get'] }
}

/** A role of the server's account, in a namespace or the whole cluster. */
function granted(namespace: string | undefined, rules: readonly object[]): readonly KubeObject[] {
  const scope = namespace === undefined ? 'Cluster' : ''
  const [apiVersion, name] = [`${RBAC}/v1`, `devctl-${NAME}`]
  const metadata = { name, ...(namespace !== undefined && { namespace }), labels: LABELS }
  return [
    { apiVersion, kind: `${scope}Role`, metadata, rules },
    {
      apiVersion,
      kind: `${scope}RoleBinding`,
      metadata,
      roleRef: { apiGroup: RBAC, kind: `${scope}Role`, name },
      subjects: [{ kind: 'ServiceAccount', name: SERVER_ACCOUNT, namespace: PLATFORM_NAMESPACE }],
    },
  ]
}

/**
 * Runs are code of repositories: nobody reaches them, and they reach DNS, the platform, the API server,
 * and what is outside of the cluster.
 */
const runsNetworkPolicy = ({ clusterNetworks = [], apiServer = [] }: Installation): KubeObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'devctl-runs', namespace: RUNS_NAMESPACE, labels: LABELS },
  spec: {
    podSelector: {},
    policyTypes: ['Ingress', 'Egress'],
    ingress: [],
    egress: [
      toDns,
      {
        to: [{ namespaceSelector: namespaceNamed(PLATFORM_NAMESPACE), podSelector: { matchLabels: SELECTOR } }],
        ports: [{ protocol: 'TCP', port: RUNS_PORT }],
      },
      // Where network plugins look at an address before they translate it, it is that of the Service.
      ...apiServer.map(({ cidr, port }) => ({ to: [{ ipBlock: { cidr } }], ports: [{ protocol: 'TCP', port }] })),
      toOutside(clusterNetworks),
    ],
  },
})

/** Where ingress controllers are is not known, and some have the addresses of nodes. */
const serverNetworkPolicy: KubeObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: own(NAME),
  spec: {
    podSelector: { matchLabels: SELECTOR },
    policyTypes: ['Ingress'],
    ingress: [
      { ports: [{ protocol: 'TCP', port: PORT }] },
      {
        from: [{ namespaceSelector: namespaceNamed(RUNS_NAMESPACE) }],
        ports: [{ protocol: 'TCP', port: RUNS_PORT }],
      },
    ],
  },
}

const settings = (one: Installation): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: own('settings'),
  data: {
    [SETTINGS_FILE]: `${JSON.stringify(settingsOf(one), undefined, 2)}\n`,
    ...(one.trusted !== undefined && { [TRUSTED_FILE]: one.trusted }),
  },
})

/** What the server reads. */
const settingsOf = (one: Installation) => ({
  ...one.kept,
  domain: one.domain,
  url: urlOf(one),
  kubernetes: one.kubernetes,
  clusterNetworks: one.clusterNetworks,
  providers: one.providers ?? [],
  ...(one.registry !== undefined && { registry: one.registry }),
  ...(one.hasRegistryTokens && { registryTokens: true }),
  ...(one.trustedProxies && { trustedProxies: one.trustedProxies }),
  ...(one.bundledBuilders && {
    bundledBuilders: without(one.bundledBuilders, ['image']),
    builders: { ...(one.kept?.['builders'] as object | undefined), ...builderSettings(one.bundledBuilders) },
  }),
  ...(one.bundledRegistry && { bundledRegistry: { size: one.bundledRegistry.size } }),
  runs: { ...(one.kept?.['runs'] as object | undefined), image: one.runnerImage, url: RUNS_ADDRESS },
})

/** What installing decides of the settings, and of their `runs`. */
const DECIDED = ['domain', 'url', 'kubernetes', 'clusterNetworks', 'providers']
const DECIDED_OF_RUNS = ['image', 'url']

/** The part of settings that installing does not decide: an upgrade keeps it. */
export function undecided(settings: object): Readonly<Record<string, unknown>> {
  const { runs, ...others } = without(settings, DECIDED)
  const own = typeof runs === 'object' && runs !== null ? without(runs, DECIDED_OF_RUNS) : {}
  return { ...others, ...(Object.keys(own).length > 0 && { runs: own }) }
}

const without = (found: object, keys: readonly string[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(found).filter(([key]) => !keys.includes(key)))

function deployment(one: Installation): KubeObject {
  const { image, replicas, version, trusted } = one
  const container = {
    name: NAME,
    image,
    env: [
      { name: 'DEVCTL_VERSION', value: version },
      { name: 'PORT', value: String(PORT) },
      { name: 'RUNS_PORT', value: String(RUNS_PORT) },
      ...(trusted === undefined ? [] : [{ name: 'NODE_EXTRA_CA_CERTS', value: `/etc/devctl/${TRUSTED_FILE}` }]),
    ],
    ports: [
      { name: 'http', containerPort: PORT },
      { name: 'runs', containerPort: RUNS_PORT },
    ],
    readinessProbe: { httpGet: { path: '/api/v1/info', port: 'http' }, periodSeconds: 2 },
    resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '256Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'settings', mountPath: '/etc/devctl', readOnly: true },
      { name: 'keys', mountPath: '/etc/devctl-keys', readOnly: true },
      { name: 'login', mountPath: '/etc/devctl-login', readOnly: true },
      { name: 'registry', mountPath: '/etc/devctl-registry', readOnly: true },
      { name: 'builders', mountPath: '/etc/devctl-builders', readOnly: true },
    ],
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: own(NAME),
    spec: {
      replicas,
      selector: { matchLabels: SELECTOR },
      template: {
        metadata: { labels: LABELS, annotations: { 'dev.platform/settings': hashOf(settings(one)) } },
        spec: {
          serviceAccountName: SERVER_ACCOUNT,
          securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [container],
          volumes: [
            { name: 'settings', configMap: { name: 'settings' } },
            // Made once, by whoever installs; it is in no list of objects, so that nothing replaces it.
            { name: 'keys', secret: { secretName: KEYS_SECRET } },
            { name: 'login', secret: { secretName: LOGIN_SECRET, optional: true } },
            { name: 'registry', secret: { secretName: REGISTRY_SECRET, optional: true } },
            { name: 'builders', secret: { secretName: BUILDERS_SECRET, optional: true } },
          ],
        },
      },
    },
  }
}

/** Pods read the settings when they start: new settings are new Pods. */
const hashOf = ({ data }: KubeObject): string =>
  createHash('sha256').update(JSON.stringify(data)).digest('hex').slice(0, 16)

const service = (): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: own(NAME),
  spec: {
    selector: SELECTOR,
    ports: [
      { name: 'http', port: 80, targetPort: 'http' },
      { name: 'runs', port: RUNS_PORT, targetPort: 'runs' },
    ],
  },
})

const ingress = (one: Installation): KubeObject => ingressTo(one, `platform.${one.domain}`, NAME, own(NAME))

/**
 * All other hosts: nothing leads there, or what did sleeps. Traefik gives a wildcard the first turn, so
 * it gets the lowest priority; other controllers look for the whole host first.
 */
const wakerIngress = (one: Installation): KubeObject =>
  ingressTo(one, `*.${one.domain}`, NAME, {
    ...own('waker'),
    annotations: { 'traefik.ingress.kubernetes.io/router.priority': '1' },
  })
