import { randomBytes } from 'node:crypto'
import { pause } from '../../adapters/http/back-off.ts'
import type { Cluster, KubeObject, ObjectRef } from '../../adapters/kubernetes/cluster.ts'
import { ClusterError } from '../../adapters/kubernetes/cluster.ts'
import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { MADE_CERTIFICATE } from '../../platform/install/certificate.ts'
import {
  EVERYTHING,
  type Installation,
  platformObjects,
  SETTINGS_FILE,
  TRUSTED_FILE,
  undecided,
  unwantedObjects,
} from '../../platform/install/server.ts'
import {
  BUILD_NAMESPACE,
  MANAGED_LABEL,
  PLATFORM_NAMESPACE,
  RECORD_LABEL,
  MANAGER as USER_MANAGER,
  USERS_NAMESPACE,
  userAccount,
} from '../../platform/records/names.ts'
import { fromToken, newToken } from '../../platform/records/token.ts'
import { ROLE, toUser } from '../../platform/records/user.ts'
import { LOGIN } from '../../platform/rules/login-name.ts'
import type { ProviderSettings } from '../../platform/rules/provider.ts'
import { toWarning } from '../objects/events.ts'
import { logNotes } from '../objects/explain.ts'
import { endingNamespace } from '../objects/namespace.ts'
import { podProblems } from '../objects/problems.ts'
import { newestPods } from '../objects/revisions.ts'
import { statusOf } from '../objects/status.ts'
import { requireClientSecrets, type WantedProviders } from './install-providers.ts'
import { keepSecrets } from './install-secrets.ts'
import { requireKubernetes } from './kubernetes-version.ts'
import { certManagerOf, dropOtherCertificates, endCertManager } from './other-certificates.ts'
import { ownFingerprint } from './own-certificate.ts'

/** Milliseconds. */
const LOOK = 500
const MANAGER = 'devctl'
/** The ConfigMap. */
const SETTINGS = 'settings'

export interface InstallWorld {
  readonly cluster: Cluster
  readonly signal: AbortSignal
  /** Milliseconds since 1970. */
  now(): number
  /** Hears what happens, in a few words. */
  on(text: string): void
}

/**
 * Brings the platform into the state that is wanted, and waits until its server answers. Gives a
 * token for the first administrator if there is none yet. Throws a UserError, with what the Pods say,
 * when it does not start.
 */
export async function installPlatform(
  world: InstallWorld,
  one: Installation,
  login: WantedProviders,
): Promise<FirstLogin> {
  const { cluster, signal, on } = world
  await requireKubernetes(cluster, signal)
  await untilGone(world, await endingNamespaces(world, platformObjects(one)))
  const deleted = (names: readonly string[]) => {
    for (const name of names) on(`${name} deleted`)
  }
  await requireClientSecrets(cluster, login, signal)
  const objects = platformObjects(one)
  let fingerprint: string | undefined
  for (const object of objects) {
    // In the namespace that was made before, and before the Pods that mount it.
    if (object.kind === 'Deployment') {
      deleted(await endCertManager(cluster, one, signal))
      fingerprint = await keepSecrets(world, one, login)
    }
    await applyOne(cluster, object, signal)
    on(nameOf({ ...object, ...object.metadata }))
  }
  for (const { apiVersion, kind, metadata } of unwantedObjects(one)) {
    const ref = { apiVersion, kind, name: metadata.name, namespace: metadata.namespace }
    const isOurs = isOfPlatform(await cluster.get(ref, { signal }))
    if (isOurs && (await cluster.delete(ref, { signal }))) deleted([nameOf(ref)])
  }
  deleted(await dropOtherCertificates(cluster, one, signal))
  on('waits for the server')
  await untilAvailable(world)
  return { fingerprint, token: await setupToken(world) }
}

/** What the first administrator needs; no token where there is an administrator already. */
export interface FirstLogin {
  readonly token: string | undefined
  /** Of the platform's own authority. */
  readonly fingerprint: string | undefined
}

/** Makes what is in no list of objects, for those who apply the list by another way: Secrets, with their namespaces. */
export async function installSecrets(
  world: InstallWorld,
  one: Installation,
  login: WantedProviders,
): Promise<FirstLogin> {
  await requireKubernetes(world.cluster, world.signal)
  await requireClientSecrets(world.cluster, login, world.signal)
  await untilGone(world, await endingNamespaces(world, platformObjects(one)))
  for (const object of platformObjects(one))
    if (object.kind === 'Namespace') await applyOne(world.cluster, object, world.signal)
  return { fingerprint: await keepSecrets(world, one, login), token: await setupToken(world) }
}

const setupToken = async (world: InstallWorld): Promise<string | undefined> =>
  (await hasAdmin(world.cluster, world.signal)) ? undefined : link(world, 'setup', 'setup')

/**
 * A token for a person who has no provider, good once, for an hour, for this name; and where the
 * platform is. Throws a UserError for a name that is none, and where there is no platform.
 */
export async function invite(
  world: InstallWorld,
  login: string,
): Promise<{ readonly url: string; readonly token: string; readonly fingerprint: string | undefined }> {
  if (!new RegExp(LOGIN).test(login))
    throw new UsageError(`\`${login}\` is not a valid name for a login`, {
      hint: 'use letters, digits, `-`, `_` and `.`',
    })
  const { url, options } = await requirePlatform(world)
  const fingerprint = options.ownCa ? await ownFingerprint(world.cluster, world.signal) : undefined
  return { url, token: await link(world, 'invite', login), fingerprint }
}

/** What is installed, as far as it is asked for. */
export interface Installed {
  readonly url: string
  readonly domain: string | undefined
  readonly providers: readonly ProviderSettings[]
  readonly trusted: string | undefined
  /** What runs run in. */
  readonly runnerImage: string | undefined
  /** What an administrator has written into the settings, and no option says. */
  readonly kept: Readonly<Record<string, unknown>>
  /** What options have said. */
  readonly options: InstalledOptions
}

/** As the objects have them. */
export type InstalledOptions = Partial<
  Pick<Installation, 'replicas' | 'tlsSecret' | 'ingressClass' | 'certManager' | 'ownCa'>
> & {
  readonly clusterNetworks: readonly string[]
  readonly areNetworksNamed: boolean
  /** Address of the API server for people. */
  readonly server?: string
}

/** `role/platform`; objects of the same name are in several namespaces. */
const nameOf = ({ kind, name, namespace }: ObjectRef): string =>
  `${kind.toLowerCase()}/${name}${namespace === undefined || namespace === PLATFORM_NAMESPACE ? '' : ` in ${namespace}`}`

/** Undefined where there is no platform. */
export async function findPlatform({ cluster, signal }: InstallWorld): Promise<Installed | undefined> {
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: SETTINGS, namespace: PLATFORM_NAMESPACE }
  const settings = await cluster.get(ref, { signal })
  const data = settings?.['data'] as Readonly<Record<string, string>> | undefined // a ConfigMap's
  const text = data?.[SETTINGS_FILE]
  if (text === undefined) return undefined
  const found = readWritten(text)
  const { url, domain, providers = [], clusterNetworks = [], clusterNetworksNamed = false, kubernetes, runs } = found
  const deployment = await cluster.get(ownRef('apps/v1', 'Deployment'), { signal })
  const ingress = await cluster.get(ownRef('networking.k8s.io/v1', 'Ingress'), { signal })
  const { replicas } = (deployment?.['spec'] ?? {}) as { readonly replicas?: number } // as Kubernetes defines them
  const { ingressClassName, tls } = (ingress?.['spec'] ?? {}) as IngressSpec
  const tlsSecret = tls?.[0]?.secretName
  const isMade = tlsSecret === MADE_CERTIFICATE
  const certManager = isMade ? await certManagerOf(cluster, signal) : undefined
  // Settings that were restored, or kept by an `uninstall`, have no Ingress that names the certificate.
  const mayBeOwn = ingress === undefined || (isMade && certManager === undefined)
  const isOwn = mayBeOwn && (await ownFingerprint(cluster, signal)) !== undefined
  const options = {
    clusterNetworks,
    areNetworksNamed: clusterNetworksNamed,
    ...(certManager !== undefined && { certManager }),
    ...(isOwn && { ownCa: true }),
    ...(replicas !== undefined && { replicas }),
    ...(isOwn ? { tlsSecret: MADE_CERTIFICATE } : tlsSecret !== undefined && { tlsSecret }),
    ...(ingressClassName !== undefined && { ingressClass: ingressClassName }),
    ...(kubernetes?.server !== undefined && { server: kubernetes.server }),
  }
  return {
    url,
    domain,
    providers,
    trusted: data?.[TRUSTED_FILE],
    runnerImage: runs?.image,
    kept: undecided(found),
    options,
  }
}

/** Throws a UserError for what somebody has edited so that it can no longer be read. */
function readWritten(text: string): Written {
  let found: unknown
  let problem = 'it has to be an object'
  try {
    found = JSON.parse(text)
  } catch (error) {
    problem = (error as Error).message.replaceAll(/\s+/g, ' ')
  }
  if (typeof found === 'object' && found !== null && !Array.isArray(found)) return found as Written // as installing writes it
  throw new UserError(`\`${SETTINGS_FILE}\` of the ConfigMap \`settings\` cannot be read: ${problem}`, {
    notes: ['the running server goes on with the settings that it has read at its start'],
    hint: `correct it: \`kubectl --namespace ${PLATFORM_NAMESPACE} edit configmap settings\``,
  })
}

/** Settings as installing writes them; older ones have less. */
interface Written extends Partial<Pick<Installation, 'providers' | 'clusterNetworks' | 'kubernetes'>> {
  readonly url: string
  readonly domain?: string
  readonly clusterNetworksNamed?: boolean
  readonly runs?: { readonly image?: string }
}

interface IngressSpec {
  readonly ingressClassName?: string
  readonly tls?: readonly { readonly secretName?: string }[]
}

const ownRef = (apiVersion: string, kind: string): ObjectRef => ({
  apiVersion,
  kind,
  name: 'platform',
  namespace: PLATFORM_NAMESPACE,
})

async function requirePlatform(world: InstallWorld): Promise<Installed> {
  const found = await findPlatform(world)
  if (found) return found
  throw new UserError('the cluster has no platform', { hint: '`devctl platform install` installs it' })
}

/**
 * Makes somebody an administrator who has logged in: by their id, or their name where it is that of one
 * person. Gives their name. Throws a UserError.
 */
export async function addAdmin(world: InstallWorld, who: string): Promise<string> {
  await requirePlatform(world)
  const { cluster, signal } = world
  const query = { apiVersion: 'v1', kind: 'ServiceAccount', namespace: USERS_NAMESPACE, labels: `${RECORD_LABEL}=user` }
  const all = (await cluster.list(query, { signal })).flatMap(one => toUser(one) ?? [])
  const found = all.filter(one => one.id === who || one.login === who)
  const [user, ...others] = found
  if (!user)
    throw new UserError(`nobody has logged in to the platform as \`${who}\``, {
      hint:
        didYouMean(
          who,
          all.map(({ login }) => login),
        ) ?? 'an administrator is made after their first login',
    })
  if (others.length > 0)
    throw new UserError(`\`${who}\` is the name of ${found.length} people`, {
      notes: found.map(({ id, issuer, email }) => `\`${id}\`, of ${issuer}${email ? `, ${email}` : ''}`),
      hint: 'use the id of one of them',
    })
  // Nothing but the role: a login, or a suspension, may be written just now.
  const role = { metadata: { annotations: { [ROLE]: 'admin' } } }
  const ref = { apiVersion: 'v1', kind: 'ServiceAccount', name: userAccount(user.id), namespace: USERS_NAMESPACE }
  await cluster.patch(ref, role, { manager: USER_MANAGER, signal })
  return user.login
}

/** What an operator has made by the same name is theirs. */
const isOfPlatform = (live: KubeObject | undefined): boolean =>
  live?.metadata.labels?.['app.kubernetes.io/part-of'] === 'devctl'

/** Right after its namespace was made, the API server may not know of it yet. */
async function applyOne(cluster: Cluster, object: KubeObject, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await cluster.apply(object, { manager: MANAGER, force: true, signal })
      return
    } catch (error) {
      if (!(error instanceof ClusterError) || error.failure !== 'not-found') throw error
      if (object.kind === 'Certificate')
        throw new UserError('the cluster has no cert-manager', {
          hint: 'install it, or name the Secret of a certificate that you have: `--tls-secret NAME`',
          cause: error,
        })
      if (attempt >= 10) throw error
    }
    await pause(200, signal)
  }
}

async function untilAvailable({ cluster, signal, now }: InstallWorld): Promise<void> {
  const ref = ownRef('apps/v1', 'Deployment')
  for (;;) {
    const live = await cluster.get(ref, { signal })
    if (live && statusOf(live).state === 'ready') return
    const labels = 'app.kubernetes.io/name=platform'
    const query = { namespace: PLATFORM_NAMESPACE, labels }
    const [sets, all] = await Promise.all([
      cluster.list({ apiVersion: 'apps/v1', kind: 'ReplicaSet', ...query }, { signal }),
      cluster.list({ apiVersion: 'v1', kind: 'Pod', ...query }, { signal }),
    ])
    // Those of an earlier installation may fail for what is mended by this one.
    for (const pod of live ? newestPods(live, sets, all) : []) {
      const fields = `involvedObject.uid=${pod.metadata.uid},type=Warning`
      const events = await cluster.list(
        { apiVersion: 'v1', kind: 'Event', namespace: PLATFORM_NAMESPACE, fields },
        { signal },
      )
      const [problem] = podProblems(pod, events.map(toWarning), now())
      if (!problem || problem.code === 'unhealthy') continue
      const { code, where, container } = problem
      const ends = code === 'crash-loop'
      const log = ends ? await logNotes(cluster, PLATFORM_NAMESPACE, pod, container, true) : []
      const why = ends ? 'its server ends again and again' : problem.detail || code
      throw new UserError(`the platform does not start: ${why}`, {
        notes: [where, ...log],
        hint:
          code === 'image-pull'
            ? 'push the image there, or name another registry: `--image-registry HOST/PATH`'
            : `\`kubectl --namespace ${PLATFORM_NAMESPACE} describe ${where}\` shows more`,
      })
    }
    await pause(LOOK, signal)
  }
}

/**
 * Deletes the platform, and unless `keepsData` what it has made for people: their namespaces and
 * records. Data are no data without the keys that have sealed them, so these are kept with them, and the settings. Waits until the
 * namespaces are gone. Gives what was deleted.
 */
export async function uninstallPlatform(world: InstallWorld, keepsData: boolean): Promise<readonly string[]> {
  const { cluster, signal, on } = world
  const objects = platformObjects({
    ...EVERYTHING,
    version: '',
    domain: '',
    image: '',
    runnerImage: '',
    replicas: 0,
    kubernetes: { server: '' },
  })
  const isKept = ({ kind, metadata }: KubeObject) =>
    keepsData &&
    (metadata.namespace === USERS_NAMESPACE ||
      (kind === 'ConfigMap' && metadata.name === SETTINGS && metadata.namespace === PLATFORM_NAMESPACE) ||
      (kind === 'Namespace' && [USERS_NAMESPACE, PLATFORM_NAMESPACE].includes(metadata.name)))
  const managed = keepsData ? [] : await managedNamespaces(cluster, signal)
  const gone: string[] = []
  const namespaces: string[] = []
  // The server first, so that it makes nothing any more; its fence last.
  for (const object of [...managed.map(namespaceObject), ...[...objects].reverse()]) {
    const { apiVersion, kind, metadata } = object
    if (isKept(object)) continue
    const ref = { apiVersion, kind, name: metadata.name, namespace: metadata.namespace }
    if (metadata.name === BUILD_NAMESPACE && !isOfPlatform(await cluster.get(ref, { signal }))) continue
    if (!(await cluster.delete(ref, { signal }))) continue
    if (kind === 'Namespace') namespaces.push(metadata.name)
    gone.push(nameOf(ref))
    on(`${gone.at(-1)} deleted`)
  }
  await untilGone(world, namespaces)
  return gone
}

/** Those of the namespaces among the objects that an earlier `uninstall` has deleted and that are not gone yet. */
async function endingNamespaces(
  { cluster, signal }: InstallWorld,
  objects: readonly KubeObject[],
): Promise<readonly string[]> {
  const names = objects.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name)
  const ending = await Promise.all(names.map(name => endingNamespace(cluster, name, { signal })))
  return names.filter((_name, at) => ending[at] !== undefined)
}

/** Waits for the end of namespaces: nothing can be made in them before, and their names are not free. */
async function untilGone({ cluster, signal, on }: InstallWorld, names: readonly string[]): Promise<void> {
  if (names.length > 0)
    on(`waits until ${names.map(name => `namespace/${name}`).join(', ')} ${names.length === 1 ? 'is' : 'are'} gone`)
  for (const name of names) while (await endingNamespace(cluster, name, { signal })) await pause(LOOK, signal)
}

/** The namespaces that the platform has made. */
export async function managedNamespaces(cluster: Cluster, signal: AbortSignal): Promise<readonly string[]> {
  const labels = `${MANAGED_LABEL}=true`
  const found = await cluster.list({ apiVersion: 'v1', kind: 'Namespace', labels }, { signal })
  return found.map(({ metadata }) => metadata.name).sort()
}

const namespaceObject = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

async function hasAdmin(cluster: Cluster, signal: AbortSignal): Promise<boolean> {
  const query = { apiVersion: 'v1', kind: 'ServiceAccount', namespace: USERS_NAMESPACE, labels: `${RECORD_LABEL}=user` }
  return (await cluster.list(query, { signal })).some(one => toUser(one)?.role === 'admin')
}

async function link({ cluster, signal, now }: InstallWorld, kind: 'setup' | 'invite', label: string): Promise<string> {
  const { text, record } = newToken({ kind, label }, { now, random: randomBytes })
  await cluster.create(fromToken(record), { signal })
  return text
}
