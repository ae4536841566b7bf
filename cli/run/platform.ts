import { readFile } from 'node:fs/promises'
import { type Cluster, ClusterError } from '../../adapters/kubernetes/cluster.ts'
import { readCredentials } from '../../adapters/kubernetes/credentials.ts'
import { loadKubeconfig } from '../../adapters/kubernetes/kubeconfig.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { printYaml } from '../../constructs/yaml.ts'
import { devctlHome } from '../../operations/contexts/home.ts'
import { readKubeconfigNames } from '../../operations/contexts/kubeconfig-names.ts'
import { isPlatform, readContexts } from '../../operations/contexts/store.ts'
import { chooseContext } from '../../operations/contexts/target.ts'
import {
  apiServerAddresses,
  clusterNetworks,
  isProxy,
  readNetworks,
  uncovered,
} from '../../operations/platform/cluster-networks.ts'
import { pinnedImages } from '../../operations/platform/images.ts'
import {
  addAdmin,
  findPlatform,
  type Installed,
  type InstalledOptions,
  type InstallWorld,
  installPlatform,
  installSecrets,
  invite,
  managedNamespaces,
  uninstallPlatform,
} from '../../operations/platform/install.ts'
import { type BuildersInput, ingressPeers, wantedBuilders } from '../../operations/platform/install-builders.ts'
import { wantedCi } from '../../operations/platform/install-ci.ts'
import { wantedForges } from '../../operations/platform/install-forges.ts'
import { type ProviderInput, wantedProviders } from '../../operations/platform/install-providers.ts'
import { type RegistryInput, wantedRegistry } from '../../operations/platform/install-registry.ts'
import { neededSecrets } from '../../operations/platform/install-secrets.ts'
import type { Session } from '../../operations/session.ts'
import { version } from '../../operations/version.ts'
import { MADE_CERTIFICATE } from '../../platform/install/certificate.ts'
import { type PlatformImages, registryOf } from '../../platform/install/images.ts'
import { type Installation, platformObjects, urlOf } from '../../platform/install/server.ts'
import type { Context } from '../command.ts'
import type { Io } from '../terminal/io.ts'
import { withCluster } from './cluster-session.ts'

export interface PlatformInstallValues extends ProviderInput, RegistryInput, BuildersInput {
  readonly context: string | undefined
  readonly domain: string | undefined
  readonly tlsSecret: string | undefined
  readonly certManager: string | undefined
  readonly ownCa: boolean
  readonly ci: readonly string[] | undefined
  readonly forge: readonly string[] | undefined
  readonly ingressClass: string | undefined
  readonly imageRegistry: string | undefined
  readonly kubernetesServer: string | undefined
  readonly clusterNetworks: string | undefined
  readonly trustedProxies: string | undefined
  readonly replicas: string | undefined
  readonly caFile: string | undefined
  readonly print: boolean
  readonly onlySecrets: boolean
  readonly timeout: number | undefined
}

/** Installs the platform or prints its objects. Gives the exit status. */
export function runInstall(context: Context, values: PlatformInstallValues): Promise<number> {
  const { print, onlySecrets } = values
  if (print && onlySecrets)
    throw new UsageError('`--print` and `--only-secrets` cannot be combined', { hint: 'run one after the other' })
  const { io } = context
  return onCluster(context, values, async (session, world) => {
    const installed = await findPlatform(world)
    const { domain, imageRegistry } = placeOf(values, installed)
    const { images, isPinned } = await pinnedImages(imageRegistry, { env: io.env, signal: session.signal })
    const wanted = await wantedProviders(values, installed?.providers ?? [])
    const { providers } = wanted
    const trusted = (await readAuthorities(values.caFile)) ?? installed?.trusted
    const { kept: others, ...registry } = wantedRegistry(values, installed?.kept ?? {}, {
      domain,
      image: images.registry,
    })
    const { kept, ...builders } = wantedBuilders(values, others, images.buildkit)
    const installation = await toInstallation(context, session, { ...values, domain, images }, installed?.options)
    if (installation.ownCa && registry.bundledRegistry)
      throw new UsageError(
        '`--bundled-registry` and `--own-ca` cannot be combined: nodes would not trust the registry',
        {
          hint: 'use a certificate of an authority that the nodes trust, or a registry elsewhere: `--registry HOST`',
        },
      )
    const ci = wantedCi(values.ci, kept['ci'])
    const forges = wantedForges(values.forge, kept['forges'])
    const one: Installation = {
      ...installation,
      providers,
      kept: { ...kept, ...(ci !== undefined && { ci }), ...(forges !== undefined && { forges }) },
      ...registry,
      ...builders,
      ...(builders.bundledBuilders && {
        ingressPeers: await ingressPeers(session.cluster, `platform.${domain}`, session.signal),
      }),
      ...(trusted !== undefined && { trusted }),
    }
    const url = urlOf(one)
    if (!isPinned && !onlySecrets && context.logLevel !== 'error')
      io.stderr.write(
        `note: \`${imageRegistry}\` reports no digests of the images to this machine: nodes keep images that they already have under the same tag\n`,
      )
    if (print) {
      io.stdout.write(platformObjects(one).map(printYaml).join('---\n'))
      io.stderr.write(notPrinted(one))
      return 0
    }
    const { token, fingerprint } = await (onlySecrets ? installSecrets : installPlatform)(world, one, wanted)
    const by = fingerprint === undefined ? '' : ` --ca-fingerprint ${fingerprint}`
    io.stdout.write(onlySecrets ? `The Secrets of ${url} exist: ${namesOf(one)}\n` : `The platform is at ${url}\n`)
    if (fingerprint !== undefined) io.stdout.write(`Its authority has the SHA-256 fingerprint ${fingerprint}\n`)
    for (const { id, name } of providers)
      io.stdout.write(`People log in with ${name}; its callback URL is ${url}/login/${id}/callback\n`)
    if (token !== undefined)
      io.stdout.write(
        `The first administrator logs in with this command, which works once, within an hour:\n  devctl context use ${url} --token ${token}${by}\n`,
      )
    return 0
  })
}

/** Where the platform is to be, and where its images are: as before, if there is one. Throws a UsageError. */
function placeOf(
  { domain, imageRegistry }: Pick<PlatformInstallValues, 'domain' | 'imageRegistry'>,
  installed: Installed | undefined,
): { readonly domain: string; readonly imageRegistry: string } {
  const host = domain ?? installed?.domain
  if (host === undefined)
    throw new UsageError('which domain?', {
      hint: 'add `--domain dev.example.com`; the platform is then `platform.dev.example.com`',
    })
  const registry = imageRegistry ?? registryOf(installed?.runnerImage ?? '')
  if (registry === undefined)
    throw new UsageError('which registry has the images of the platform?', {
      hint: 'add `--image-registry HOST/PATH`; docs/platform.md describes how to build and push them',
    })
  return { domain: host, imageRegistry: registry }
}

/** Who applies what is printed hears what else the cluster needs. */
const notPrinted = (one: Installation): string =>
  `note: Secrets are not printed: ${namesOf(one)}
  = help: the same command with \`--only-secrets\` instead of \`--print\` creates those that are missing, and prints how the first administrator logs in
`

const namesOf = (one: Installation): string =>
  [...neededSecrets(one)]
    .map(([namespace, names]) => `${names.map(name => `\`${name}\``).join(', ')} of \`${namespace}\``)
    .join('; ')

/** Makes a person an administrator. */
export function runAdminAdd(
  context: Context,
  who: string,
  values: { readonly context: string | undefined },
): Promise<number> {
  return onCluster(context, values, async (_session, world) => {
    context.io.stdout.write(`${await addAdmin(world, who)} is now an administrator of the platform\n`)
    return 0
  })
}

/** Prints how an invited person logs in. */
export function runInvite(
  context: Context,
  name: string,
  values: { readonly context: string | undefined },
): Promise<number> {
  const { io } = context
  return onCluster(context, values, async (_session, world) => {
    const { url, token, fingerprint } = await invite(world, name)
    const by = fingerprint === undefined ? '' : ` --ca-fingerprint ${fingerprint}`
    io.stdout.write(
      `${name} logs in with this command, which works once, within an hour:\n  devctl context use ${url} --token ${token}${by}\n`,
    )
    return 0
  })
}

/** Deletes the platform, after a question. */
export function runUninstall(
  context: Context,
  values: Pick<PlatformInstallValues, 'context' | 'timeout'> & { readonly keepData: boolean; readonly yes: boolean },
): Promise<number> {
  const { io } = context
  const { keepData, yes } = values
  return onCluster(context, values, async ({ cluster, signal }, world) => {
    const namespaces = keepData ? [] : await managedNamespaces(cluster, signal)
    if (namespaces.length > 0 && !yes)
      throw new UserError(`this would delete ${namespaces.length} namespaces of people, with everything in them`, {
        notes: [namespaces.map(name => `\`${name}\``).join(', ')],
        hint: 'add `--yes` to delete them, or `--keep-data` to keep them',
      })
    const gone = await uninstallPlatform(world, keepData)
    if (gone.length === 0) io.stdout.write('The cluster has no platform; nothing was deleted\n')
    else
      io.stdout.write(keepData ? 'The platform is removed; users and namespaces stay\n' : 'The platform is removed\n')
    return 0
  })
}

async function readAuthorities(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined
  const text = await readFile(file, 'utf8').catch(error => {
    throw new UsageError(`\`--ca-file\`: \`${file}\` cannot be read`, { cause: error })
  })
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw new UsageError(`\`--ca-file\`: \`${file}\` has no certificate`, { hint: 'name a file in PEM' })
}

/** Runs the work as an administrator of the cluster that a context of the kubeconfig names. */
export async function onCluster(
  { io, logLevel }: Context,
  { context, timeout }: { readonly context: string | undefined; readonly timeout?: number | undefined },
  work: (session: Session, world: InstallWorld) => Promise<number>,
): Promise<number> {
  if (context !== undefined && isPlatform(context))
    throw new UsageError('`--context` is a platform', { hint: 'name a context of the kubeconfig' })
  const chosen = context === undefined ? await administered(io) : { context }
  return withCluster(io, { context: chosen.context, namespace: 'default', timeout, logLevel }, async session => {
    const { cluster, signal, clock, target } = session
    const on = (text: string) => {
      if (logLevel !== 'error') io.stderr.write(`${text}\n`)
    }
    const world = { cluster, signal, now: () => clock.now(), on }
    try {
      if (chosen.platform !== undefined) await requireSame(world, chosen.context, chosen.platform)
      return await work(session, world)
    } catch (error) {
      if (!(error instanceof ClusterError) || error.failure !== 'forbidden') throw error
      throw new UserError(error.message, {
        notes: [
          `context \`${target.context}\`, chosen by ${chosen.platform === undefined ? target.from.context : 'the kubeconfig'}`,
        ],
        hint: 'this needs the rights of a cluster administrator: name a context that has them with `--context`',
        cause: error,
      })
    }
  })
}

/**
 * Somebody who has logged in to a platform administers its cluster by the kubeconfig nevertheless: its current context
 * takes the place of the platform.
 */
async function administered(
  io: Io,
): Promise<{ readonly context?: string; readonly platform?: undefined } | { context: string; platform: string }> {
  const stored = readContexts(devctlHome(io))
  const kubeconfig = await readKubeconfigNames(io)
  const [platform] = chooseContext({ options: {}, env: io.env, manifest: {}, stored, kubeconfig }) ?? []
  if (platform === undefined || !isPlatform(platform)) return {}
  const context = kubeconfig.current
  // `devctl kubeconfig` writes contexts of platforms there, too.
  if (context !== undefined && kubeconfig.contexts.get(context)?.platform === undefined) return { context, platform }
  throw new UsageError(`the current context is the platform \`${platform}\``, {
    hint: 'this needs the rights of a cluster administrator: name a context of the kubeconfig with `--context`',
  })
}

/** Throws a UserError if the cluster is not the one of the platform that somebody works with. */
async function requireSame(world: InstallWorld, context: string, platform: string): Promise<void> {
  const found = await findPlatform(world)
  if (found?.url === platform) return
  throw new UserError(
    `the current context is the platform \`${platform}\`, but the cluster of \`${context}\` has ${found ? `the platform \`${found.url}\`` : 'no platform'}`,
    { hint: `add \`--context ${context}\` if you mean this cluster` },
  )
}

/** Of `--tls-secret`: the certificate is that of the ingress controller. */
const NO_SECRET = '-'

/** What no option says stays as it was. */
async function toInstallation(
  { io, logLevel }: Context,
  { target, cluster, signal }: Session,
  values: PlatformInstallValues & { readonly domain: string; readonly images: PlatformImages },
  before: InstalledOptions | undefined,
): Promise<Installation> {
  const { domain, images } = values
  const warn = (text: string) => {
    if (logLevel !== 'error') io.stderr.write(text)
  }
  const { ingressClass = before?.ingressClass } = values
  const ways = [
    values.tlsSecret && '--tls-secret',
    values.certManager && '--cert-manager',
    values.ownCa && '--own-ca',
  ].filter(Boolean)
  const certManager = values.certManager ?? (ways.length === 0 ? before?.certManager : undefined)
  if (ways.length > 1)
    throw new UsageError(`\`${ways.join('` and `')}\` cannot be combined`, { hint: 'choose one of them' })
  const isMade = certManager !== undefined || values.ownCa
  const named = values.tlsSecret ?? (isMade ? MADE_CERTIFICATE : before?.tlsSecret)
  const tlsSecret = named === NO_SECRET ? undefined : named
  const ownCa = values.ownCa || (before?.ownCa === true && ways.length === 0)
  const kubeconfig = await loadKubeconfig(target.context, io.env)
  const { ca } = readCredentials(kubeconfig).tls
  const given = values.kubernetesServer === undefined ? undefined : readServer(values.kubernetesServer)
  const server = given ?? before?.server ?? kubeconfig.server.href
  return {
    version: version(),
    domain,
    image: images.platform,
    runnerImage: images.runner,
    replicas: values.replicas === undefined ? (before?.replicas ?? 1) : Number(values.replicas),
    ...(tlsSecret !== undefined && { tlsSecret }),
    ...(certManager !== undefined && { certManager }),
    ...(ownCa && { ownCa }),
    ...(ingressClass !== undefined && { ingressClass }),
    ...(await networksOf(cluster, values.clusterNetworks, before, warn, signal)),
    apiServer: await apiServerAddresses(cluster, signal),
    ...(values.trustedProxies !== undefined && { trustedProxies: readProxies(values.trustedProxies) }),
    kubernetes: { server: server.replace(/\/$/, ''), ...(ca !== undefined && { ca: String(ca) }) },
  }
}

/** Programs of people go there with their tokens. */
function readServer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isAddress = url && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash
  if (isAddress && (url.protocol === 'https:' || url.hostname === '127.0.0.1')) return text
  throw new UsageError(`\`--kubernetes-server\` is \`${text}\``, {
    hint: 'write the address of the API server, such as `https://kubernetes.example.com:6443`',
  })
}

/**
 * What an operator has named is all of it, then and in later upgrades, until `-`. What was found stays, too: nodes
 * come and go.
 */
async function networksOf(
  cluster: Cluster,
  named: string | undefined,
  before: InstalledOptions | undefined,
  warn: (text: string) => void,
  signal: AbortSignal,
): Promise<Pick<Installation, 'clusterNetworks' | 'areNetworksNamed'>> {
  const found = await clusterNetworks(cluster, signal)
  const isNamed = named === undefined ? before?.areNetworksNamed : named !== '-'
  if (isNamed) {
    const all = named === undefined ? (before?.clusterNetworks ?? []) : readNetworks(named, '10.42.0.0/16')
    const open = uncovered(found, all)
    if (open.length > 0) warn(openNetworks(open))
    return { clusterNetworks: all, areNetworksNamed: true }
  }
  const known = named === undefined ? (before?.clusterNetworks ?? []) : []
  return { clusterNetworks: [...new Set([...known, ...found])].sort() }
}

/** Namespaces reach what was forgotten: an operator should hear of it. */
const openNetworks = (open: readonly string[]): string =>
  `warning: the cluster has networks that \`--cluster-networks\` does not name: ${open.join(', ')}
  = help: what runs in a namespace can reach them; name all, or let them be found: \`--cluster-networks -\`
`

function readProxies(text: string): readonly string[] {
  if (text === '-') return []
  return text.split(',').map(one => {
    if (isProxy(one.trim())) return one.trim()
    throw new UsageError(`\`${one}\` is neither an address nor a network`, {
      hint: 'write `10.42.3.7` or `10.42.3.0/24`, with commas between several; a network of all addresses is not allowed',
    })
  })
}
