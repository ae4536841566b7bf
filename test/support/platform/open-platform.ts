import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Cluster, KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { tokenAccess, tokenAccesses } from '../../../adapters/kubernetes/connection.ts'
import { connect, toCluster } from '../../../adapters/kubernetes/kube-cluster.ts'
import { loadKubeconfig } from '../../../adapters/kubernetes/kubeconfig.ts'
import type { ErrorBody } from '../../../platform/api/common.ts'
import type { BodyOf, ReplyOf, RouteName } from '../../../platform/api/routes.ts'
import { makeAuthority } from '../../../platform/install/certificates/certificates.ts'
import { type Installation, platformObjects } from '../../../platform/install/manifests/server.ts'
import { MANAGED_LABEL, PLATFORM_NAMESPACE, SERVER_ACCOUNT, USERS_NAMESPACE } from '../../../platform/records/names.ts'
import { jobRef } from '../../../platform/records/run.ts'
import { IDLENESS } from '../../../platform/rules/runs/idleness.ts'
import type { AuditLine, ServerContext, ServerLogLine, Settings } from '../../../platform/server/context.ts'
import { createServices, type Services } from '../../../platform/server/create-services.ts'
import { createApp } from '../../../platform/server/http/app.ts'
import type { WebFiles } from '../../../platform/server/http/pages.ts'
import { sealingWith } from '../../../platform/server/leader/sealed.ts'
import { toRegistryKey } from '../../../platform/server/registry/registry-key.ts'
import { eventually } from '../cluster/cluster.ts'
import { RUN } from './run-name.ts'

/** An answer: the status, and the body of its route, or an error. */
export interface Answer<N extends RouteName> {
  readonly status: number
  readonly body: ReplyOf<N>
  readonly error: ErrorBody
  readonly headers: Readonly<Record<string, unknown>>
}

/** A platform in this process, before a real API server. */
export interface TestPlatform {
  /** Cluster client with the rights of a cluster administrator. */
  readonly cluster: Cluster
  /** Cluster client with the platform's own account. */
  readonly own: Cluster
  readonly parts: Services
  readonly world: ServerContext
  readonly app: FastifyInstance
  readonly audit: readonly AuditLine[]
  /** Messages that it has logged for its operators. */
  readonly log: readonly string[]
  /** Number of requests that it has received. */
  requests: number
  /** Milliseconds that have passed for the platform besides those of the clock. */
  later: number
  call<N extends RouteName>(
    name: N,
    more?: {
      readonly token?: string
      readonly body?: BodyOf<N> | object
      readonly params?: Readonly<Record<string, string>>
      readonly query?: Readonly<Record<string, string>>
      /** Headers that usually come from a browser: a cookie, and the origin of the page. */
      readonly headers?: Readonly<Record<string, string>>
    },
  ): Promise<Answer<N>>
  /** Makes a user who has logged in. */
  person(login: string, role?: 'admin'): Promise<Person>
  /** Makes several users at once, by their logins, or logins with roles. */
  people<const P extends readonly (string | readonly [string, 'admin'])[]>(
    ...logins: P
  ): Promise<{ readonly [I in keyof P]: Person }>
  /** The code of the last login that waits for one. */
  lastCode(): string | undefined
  /** A server that is something else. */
  other(): Promise<string>
  /**
   * Creates the platform's own Deployment, as an installation does, until the platform is closed; its Pods get no node.
   */
  deployServer(): Promise<void>
  close(): Promise<void>
}

/** A user of the platform who has logged in. */
export interface Person {
  readonly token: string
  readonly id: string
  /** The name of their personal namespace. */
  readonly home: string
}

/** Differences from a platform that is installed without options. */
export type TestSettings = Partial<Settings> & {
  /** Client secret of all providers, if it is not `CLIENT_SECRET`. */
  readonly clientSecret?: string
  /** The name of a person in this run. */
  readonly loginOf?: (name: string) => string
}

/** The client secret of all providers. */
export const CLIENT_SECRET = 'client-secret-0123456789'

export async function openPlatform(
  { clientSecret = CLIENT_SECRET, loginOf = name => `${name}-${RUN}`, ...more }: TestSettings = {},
  web?: WebFiles,
): Promise<TestPlatform> {
  const admin = await connect({ env: process.env })
  const kubernetes = await apiServer()
  const isNew = await install(admin, kubernetes)
  const cluster = withoutNodes(await asPlatform(admin, kubernetes))
  if (isNew) await policiesInForce(cluster)
  const audit: AuditLine[] = []
  const log: string[] = []
  const forRegistry = makeAuthority('devctl', Date.now())
  const accessAs = await tokenAccesses(process.env)
  const world: ServerContext = {
    cluster,
    clusterAs: (token, who) => toCluster(accessAs(token, who)),
    version: '0.1.0',
    sealing: sealingWith({ read: () => new Map([[1, Buffer.alloc(32, 1)]]), now: Date.now }),
    settings: {
      domain: 'dev.example.com',
      url: 'https://platform.dev.example.com',
      kubernetes,
      namespacesPerUser: 3,
      previewsPerUser: 3,
      providers: [],
      clusterNetworks: ['10.0.0.0/16'],
      privateNetworks: [],
      ci: [],
      forges: [],
      trustedProxies: [],
      idleness: IDLENESS,
      runs: { image: 'devctl/runner', url: 'http://platform.devctl-platform.svc', perUser: 2, inAll: 3, deadline: 600 },
      ...more,
    },
    clientSecret: () => clientSecret,
    registryKey: toRegistryKey(forRegistry.key, forRegistry.certificate),
    now: () => Date.now() + platform.later,
    random: randomBytes,
    audit: (line: AuditLine) => void audit.push(line),
    log: ({ text }: ServerLogLine) => void log.push(text),
  }
  const parts = createServices(world)
  const app = createApp(world, parts, web)
  const over = new AbortController()
  const following = parts.index.follow(over.signal)
  const made = new Set<string>()
  const deployed: KubeObject[] = []
  const others: Server[] = []
  let code: string | undefined
  app.addHook('onRequest', async () => {
    platform.requests++
  })
  app.addHook('onSend', async (request, _, payload) => {
    if (request.url.endsWith('/auth/device')) code = JSON.parse(String(payload)).code
  })
  const platform: TestPlatform = {
    cluster: admin,
    own: cluster,
    parts,
    world,
    app,
    audit,
    log,
    later: 0,
    requests: 0,
    async call(name, { token, body, params = {}, query, headers: more = {} } = {}) {
      const [method = '', path = ''] = name.split(' ')
      const url = `/api/v1${path.replaceAll(/:(\w+)/g, (_, key: string) => params[key] ?? '')}${query ? `?${new URLSearchParams(query)}` : ''}`
      const headers = { ...more, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
      const answer = await app.inject({
        method: method as 'GET',
        url,
        headers,
        ...(body && { payload: body as object }),
      })
      const value = answer.body === '' ? undefined : JSON.parse(answer.body)
      return { status: answer.statusCode, body: value, error: value, headers: answer.headers }
    },
    async person(login, role) {
      const identity = { issuer: 'https://issuer.example.com', subject: `${RUN}-${login}`, login: loginOf(login) }
      const user = await parts.personal.ensure(await parts.users.loggedIn(identity, role))
      made.add(user.home!)
      const { text } = await parts.tokens.issue({ kind: 'cli', label: 'a test', user: user.id })
      return { token: text, id: user.id, home: user.home! }
    },
    async people(...logins) {
      const all = logins.map(one => (typeof one === 'string' ? platform.person(one) : platform.person(...one)))
      // As many as logins.
      return (await Promise.all(all)) as { readonly [I in keyof typeof logins]: Person }
    },
    lastCode: () => code,
    async other() {
      const server = createServer((_, answer) => answer.end('<html>log in</html>'))
      await once(server.listen(0, '127.0.0.1'), 'listening')
      others.push(server)
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    },
    async deployServer() {
      for (const one of platformObjects(installation(kubernetes)).filter(({ kind }) => kind === 'Deployment'))
        deployed.push(await admin.apply(withoutNode(one), { manager: 'test', force: true }))
    },
    async close() {
      over.abort()
      for (const { apiVersion, kind, metadata } of deployed)
        await admin.delete({ apiVersion, kind, ...metadata }, { propagation: 'Background' })
      await Promise.all([app.close(), following])
      for (const server of others) server.close()
      const [runs, namespaces, people] = await Promise.all([
        parts.runs.list({}),
        admin.list({ apiVersion: 'v1', kind: 'Namespace', labels: `${MANAGED_LABEL}=true` }),
        parts.users.all(),
      ])
      await Promise.all([
        ...runs
          .filter(({ namespace }) => namespace.includes(RUN))
          .map(({ id }) => admin.delete(jobRef(id), { propagation: 'Background' })),
        ...namespaces
          .filter(({ metadata: { name } }) => made.has(name) || name.includes(RUN))
          .map(({ metadata: { name } }) => admin.delete({ apiVersion: 'v1', kind: 'Namespace', name })),
        ...people
          .filter(({ subject }) => subject.startsWith(RUN))
          .map(async ({ id }) => {
            await parts.tokens.revokeAll(id)
            await admin.delete({
              apiVersion: 'v1',
              kind: 'ServiceAccount',
              name: `u-${id}`,
              namespace: USERS_NAMESPACE,
            })
          }),
      ])
    },
  }
  await app.ready()
  return platform
}

const installation = (kubernetes: Installation['kubernetes']): Installation => ({
  version: '0.1.0',
  domain: 'dev.example.com',
  image: 'devctl/platform',
  runnerImage: 'devctl/runner',
  replicas: 1,
  registry: 'images.dev.example.com',
  kubernetes,
})

/**
 * The versions of the objects that this process has installed, by their names: another file of this worker needs no
 * others.
 */
const installed = new Map<string, string | undefined>()

/**
 * Installs all of the platform except its Pods; skips objects that still are as this process has left them. Returns
 * true if anything was missing.
 */
async function install(cluster: Cluster, kubernetes: Installation['kubernetes']): Promise<boolean> {
  const wanted = platformObjects(installation(kubernetes)).filter(
    ({ kind }) => !['Deployment', 'Service', 'Ingress'].includes(kind),
  )
  const missing = await Promise.all(wanted.map(async one => ((await isInstalled(one)) ? [] : [one])))
  for (const object of missing.flat()) {
    const { apiVersion, kind, metadata } = object
    if (kind === 'Namespace') await eventually(`${metadata.name} of another test is gone`, () => isFree(metadata.name))
    const live = await cluster.apply(object, { manager: 'test', force: true })
    installed.set(`${apiVersion} ${kind} ${metadata.namespace}/${metadata.name}`, live.metadata.resourceVersion)
  }
  return missing.flat().length > 0

  async function isInstalled({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): Promise<boolean> {
    const version = installed.get(`${apiVersion} ${kind} ${namespace}/${name}`)
    if (version === undefined) return false
    return (await cluster.get({ apiVersion, kind, name, namespace }))?.metadata.resourceVersion === version
  }

  async function isFree(name: string): Promise<true | undefined> {
    const live = await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name })
    return live?.metadata.deletionTimestamp === undefined ? true : undefined
  }
}

/** Waits until the API server follows the new policies. */
async function policiesInForce(own: Cluster): Promise<void> {
  const plain = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `plain-${RUN}` } }
  await eventually('the policies are in force', () =>
    own.apply(plain, { manager: 'test', dryRun: true }).then(
      () => undefined,
      (error: Error) => (error.message.includes('only its own namespaces') ? true : undefined),
    ),
  )
}

/** A token of the platform's own account, for an hour. */
export async function serverToken(admin: Cluster): Promise<string> {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', name: SERVER_ACCOUNT, namespace: PLATFORM_NAMESPACE }
  const made = await admin.createIn(account, 'token', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 3600 },
  })
  const { token } = made['status'] as { readonly token: string }
  return token
}

async function asPlatform(admin: Cluster, { server, ca }: Installation['kubernetes']): Promise<Cluster> {
  const token = await serverToken(admin)
  return toCluster(
    tokenAccess({
      context: 'platform',
      namespace: PLATFORM_NAMESPACE,
      server: new URL(server),
      ca,
      proxy: undefined,
      token: async () => token,
    }),
  )
}

/** A workload whose Pods get no node. */
function withoutNode(object: KubeObject): KubeObject {
  const copy = structuredClone(object) as typeof object & { spec: { template: { spec: { schedulerName?: string } } } }
  copy.spec.template.spec.schedulerName = 'nobody'
  return copy
}

/** The Pods of runs get no node, also where the cluster has some: tests say what becomes of them. */
function withoutNodes(cluster: Cluster): Cluster {
  const create: Cluster['create'] = (object, options) =>
    cluster.create(object.kind === 'Job' ? withoutNode(object) : object, options)
  return new Proxy(cluster, {
    get(target, key) {
      if (key === 'create') return create
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Returns the address by which users' programs reach the API server: the one that this process uses. */
async function apiServer(): Promise<{ readonly server: string; readonly ca?: string }> {
  const { server, cluster } = await loadKubeconfig(undefined, process.env)
  const ca = Buffer.from(String(cluster['certificate-authority-data'] ?? ''), 'base64').toString()
  return { server: server.href, ...(ca && { ca }) }
}
