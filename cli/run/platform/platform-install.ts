import type { Cluster } from '../../../adapters/kubernetes/cluster.ts'
import { readCredentials } from '../../../adapters/kubernetes/credentials.ts'
import { loadKubeconfig } from '../../../adapters/kubernetes/kubeconfig.ts'
import { plural } from '../../../compiler/diagnostics/render/summary.ts'
import { UsageError } from '../../../compiler/diagnostics/user-error.ts'
import { printYaml } from '../../../constructs/yaml.ts'
import { givenAuthority } from '../../../platform/install/certificates/given-authority.ts'
import { missingIngress } from '../../../platform/install/checks/builder-ingress.ts'
import {
  apiServerAddresses,
  clusterNetworks,
  isProxy,
  readNetworks,
  readPrivateNetworks,
} from '../../../platform/install/checks/cluster-networks.ts'
import { checkedDependencies, statusProblems } from '../../../platform/install/checks/dependency-status.ts'
import { ingressProblem, installedIngress } from '../../../platform/install/checks/ingress-status.ts'
import { openAddresses, openProblem } from '../../../platform/install/checks/open-addresses.ts'
import { installPlatform, installSecrets } from '../../../platform/install/install.ts'
import { ingressPeers, wantedBuilders } from '../../../platform/install/install-builders.ts'
import { wantedCi } from '../../../platform/install/install-ci.ts'
import type { InstallContext } from '../../../platform/install/install-context.ts'
import { wantedForges } from '../../../platform/install/install-forges.ts'
import { type InstallPlan, planInstall } from '../../../platform/install/install-plan.ts'
import { wantedProviders } from '../../../platform/install/install-providers.ts'
import { wantedRegistry } from '../../../platform/install/install-registry.ts'
import { hasCertificate, neededSecrets } from '../../../platform/install/install-secrets.ts'
import { findPlatform, type Installed, type InstalledOptions } from '../../../platform/install/installed.ts'
import { type ImagesContext, pinnedImages } from '../../../platform/install/installed-images.ts'
import { MADE_CERTIFICATE } from '../../../platform/install/manifests/certificate.ts'
import { type PlatformImages, registryOf } from '../../../platform/install/manifests/images.ts'
import { type Installation, platformObjects, urlOf, withImages } from '../../../platform/install/manifests/server.ts'
import type { PlatformProblem } from '../../../platform/session/platform-problem.ts'
import type { Session } from '../../../project/session.ts'
import { toleratesFailures } from '../../../project/tolerance.ts'
import { version } from '../../../project/version.ts'
import type { Context } from '../../command.ts'
import type { PlatformInstallValues } from '../../commands/platform/platform.ts'
import { isAgreed, wantsColour } from '../../terminal/io.ts'
import { printWarning } from '../../terminal/report.ts'
import { deadlineOf } from '../deadline.ts'
import { fingerprintOption } from './fingerprint-option.ts'
import { ensureInstallImages, imagesNote } from './install-images.ts'
import { onCluster } from './platform.ts'
import { readAuthorities } from './read-authorities.ts'

/** Default timeout in milliseconds: images may have to be built. */
const TIMEOUT = 30 * 60_000

/** Installs the platform or prints its objects. Returns the exit status. */
export function runInstall(context: Context, values: PlatformInstallValues): Promise<number> {
  const { print, onlySecrets, dryRun } = values
  const ways = [print && '--print', onlySecrets && '--only-secrets', dryRun && '--dry-run'].filter(Boolean)
  if (ways.length > 1)
    throw new UsageError(`\`${ways.join('` and `')}\` cannot be combined`, { hint: 'run one after the other' })
  const { io } = context
  const timeout = deadlineOf(io, values.timeout, TIMEOUT)
  return onCluster(context, { ...values, timeout }, async (session, world) => {
    const installed = await findPlatform(world)
    const warn = warnerOf(context)
    for (const { key, hint } of installed?.unknown ?? [])
      warn({
        message: `\`settings.json\` has \`${key}\`, which is no setting: it is kept and does nothing`,
        hint: hint ?? 'docs/platform/operate.md lists them',
      })
    const { domain, imageRegistry } = placeOf(values, installed)
    const found = await pinnedImages(imageRegistry, { env: io.env, signal: session.signal })
    const { images } = found
    const wanted = await wantedProviders(values, installed?.providers ?? [])
    const { providers } = wanted
    const trusted = await readAuthorities(values.ca, installed?.trusted)
    const { kept: others, ...registry } = wantedRegistry(values, installed?.kept ?? {}, {
      domain,
      image: images.registry,
    })
    const { kept, ...builders } = wantedBuilders(values, others, images.buildkit)
    const installation = await toInstallation(
      context,
      session,
      { ...values, domain, images, trusted },
      installed?.options,
    )
    if (installation.ownCa && registry.bundledRegistry)
      throw new UsageError(
        '`--bundled-registry` and `--own-ca` cannot be combined: nodes would not trust the registry',
        {
          hint: 'use a certificate of an authority that the nodes trust, or a registry elsewhere: `--registry HOST`',
        },
      )
    const ci = wantedCi(values.ci, kept['ci'])
    const forges = wantedForges(values.forge, kept['forges'])
    const planned: Installation = {
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
    const installs = !print && !dryRun && !onlySecrets
    const check = () => planInstall(world, planned, wanted)
    const place = { registry: imageRegistry, found, one: planned, cluster: session.target.context, check }
    const ensured = installs ? await ensureInstallImages(context, values, place, session.signal) : found
    if (!ensured) return 1
    const one = withImages(planned, ensured.images)
    const url = urlOf(one)
    await warnBefore(context, session, one)
    if (!onlySecrets && context.logLevel !== 'error') io.stderr.write(imagesNote(imageRegistry, ensured, one))
    if (print) {
      io.stdout.write(platformObjects(one).map(printYaml).join('---\n'))
      io.stderr.write(notPrinted(one))
      return 0
    }
    if (dryRun) {
      io.stdout.write(await changesText(context, await planInstall(world, one, wanted), true))
      return 0
    }
    const change = onlySecrets
      ? undefined
      : await agreedChange(context, session, values, await planInstall(world, one, wanted), url)
    if (change === 'declined') return 1
    const waiting = { toleratesFailures: toleratesFailures(io, values), patience: deadlineOf(io, values.timeout) }
    const { token, fingerprint } = await (change
      ? installPlatform({ ...world, ...waiting }, one, wanted, change)
      : installSecrets(world, one, wanted))
    io.stdout.write(onlySecrets ? `The Secrets of ${url} exist: ${namesOf(one)}\n` : `The platform is at ${url}\n`)
    if (fingerprint !== undefined) io.stdout.write(`Its authority has the SHA-256 fingerprint ${fingerprint}\n`)
    for (const { id, name } of providers)
      io.stdout.write(`People log in with ${name}; its callback URL is ${url}/login/${id}/callback\n`)
    const by =
      token && (await fingerprintOption({ url, own: fingerprint, authorities: trusted }, io.env, session.signal))
    if (token !== undefined)
      io.stdout.write(
        `The first administrator logs in with this command, which works once, within an hour:\n  devctl context use ${url} --token ${token}${by}\n`,
      )
    if (change) await warnAfter(context, world, one)
    return 0
  })
}

/** Warns of problems that would prevent users or builds from reaching the platform. */
async function warnBefore(context: Context, { cluster, signal }: Session, one: Installation): Promise<void> {
  const warn = warnerOf(context)
  const { hostname: host } = new URL(urlOf(one))
  const addresses = (await installedIngress(cluster, host, signal))?.addresses ?? []
  const { ingressClass, bundledBuilders, ingressPeers: peers = [] } = one
  const ingress = { host, addresses, ...(ingressClass !== undefined && { ingressClass }) }
  const problems = [
    await ingressProblem(cluster, ingress, signal),
    bundledBuilders && missingIngress(host, peers, bundledBuilders.networks),
  ]
  for (const problem of problems) if (problem) warn(problem)
}

/**
 * Warns of problems between the new platform server and the other servers that it needs, and names servers that it has
 * not checked yet.
 */
async function warnAfter(context: Context, world: InstallContext, one: Installation): Promise<void> {
  const states = await checkedDependencies(world, one)
  for (const problem of statusProblems(states)) warnerOf(context)(problem)
  const unknown = states.filter(({ state }) => state === 'unknown')
  if (unknown.length === 0 || context.logLevel === 'error') return
  const hosts = [...new Set(unknown.map(({ address }) => `\`${new URL(address).host}\``))].join(', ')
  context.io.stderr.write(
    `note: the server has not checked ${hosts} yet; \`devctl platform status\` shows the result\n`,
  )
}

/**
 * Shows the changes before they are applied and, on a terminal, asks for consent. Does not list the objects of a first
 * installation.
 */
async function agreedChange(
  context: Context,
  { target }: Session,
  { yes }: PlatformInstallValues,
  plan: InstallPlan,
  url: string,
): Promise<InstallPlan | 'declined'> {
  const { io, logLevel } = context
  if (!plan.isFirst && plan.diffs.length > 0 && logLevel !== 'error')
    io.stderr.write(await changesText(context, plan, false))
  if (yes || !io.choose || plan.diffs.length === 0) return plan
  const question = plan.isFirst
    ? `Install the platform at ${url} with the context ${target.context} (${plural(plan.diffs.length, 'object')})?`
    : `Change ${plural(plan.diffs.length, 'object')} of ${url}?`
  if (await isAgreed(io.choose, question)) return plan
  io.stderr.write('nothing was changed\n')
  return 'declined'
}

/** Returns the changes of an installation as text, in the form of `devctl diff`. */
async function changesText({ io }: Context, { diffs, unchanged }: InstallPlan, isResult: boolean): Promise<string> {
  const { differingText, diffText } = await import('../../terminal/print-diff.ts')
  const colour = wantsColour(isResult ? io.stdout : io.stderr, io.env)
  const text = await diffText(diffs, { colour, now: Date.now(), placeOf: () => undefined })
  return isResult ? `${text}${differingText(diffs.length, unchanged)}\n` : text
}

/**
 * Returns the domain of the platform and the registry of its images: from the options, else from the installed
 * platform. Throws a UsageError if either is unknown.
 */
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
      hint: 'add `--image-registry HOST/PATH`, where the cluster can pull and you can push: images that it lacks are built',
    })
  return { domain: host, imageRegistry: registry }
}

/** Returns the note for a user who applies the printed manifests. It lists the Secrets that the cluster still needs. */
const notPrinted = (one: Installation): string =>
  `note: Secrets are not printed: ${namesOf(one)}
  = help: the same command with \`--only-secrets\` instead of \`--print\` creates those that are missing, and prints how the first administrator logs in
`

const namesOf = (one: Installation): string =>
  [...neededSecrets(one)]
    .map(([namespace, names]) => `${names.map(name => `\`${name}\``).join(', ')} of \`${namespace}\``)
    .join('; ')

/** Value of `--tls-secret` for using the certificate of the ingress controller. */
const NO_SECRET = '-'

/**
 * Returns the installation that the options describe. Settings without an option keep the values of the installed
 * platform.
 */
async function toInstallation(
  context: Context,
  { target, cluster, signal }: Session,
  values: PlatformInstallValues & InstallPlace,
  before: InstalledOptions | undefined,
): Promise<Installation> {
  const { domain, images, trusted } = values
  const warn = warnerOf(context)
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
  const kubeconfig = await loadKubeconfig(target.context, context.io.env)
  const given = values.kubernetesServer === undefined ? undefined : readServer(values.kubernetesServer)
  const server = given ?? before?.server ?? kubeconfig.server.href
  // The authority belongs to the address: this kubeconfig may reach the cluster in another way, with another one.
  const isKept =
    given === undefined && before?.server !== undefined && before.server !== withoutSlash(kubeconfig.server.href)
  const own = isKept ? before.serverCa : readCredentials(kubeconfig).tls.ca
  const ca = own ?? (await authorityOf(server, trusted, { env: context.io.env, signal }))
  if (given === undefined && isLoopback(new URL(server).hostname))
    warn({
      message: `people would reach the API server at ${server}, which is only this machine`,
      hint: 'name the address that they have: `--kubernetes-server https://kubernetes.example.com:6443`',
    })
  if (values.tlsSecret !== undefined && tlsSecret !== undefined && !(await hasCertificate(cluster, tlsSecret, signal)))
    warn({
      message: `the Secret \`${tlsSecret}\` does not exist: until it does, the ingress controller shows another certificate`,
      hint: `create it: \`kubectl --namespace devctl-platform create secret tls ${tlsSecret} --cert FILE --key FILE\``,
    })
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
    ...(await networksOf(cluster, values, before, warn, signal)),
    apiServer: await apiServerAddresses(cluster, signal),
    ...(values.trustedProxies !== undefined && { trustedProxies: readProxies(values.trustedProxies) }),
    kubernetes: { server: withoutSlash(server), ...(ca !== undefined && { ca: String(ca) }) },
  }
}

const withoutSlash = (address: string): string => address.replace(/\/$/, '')

interface InstallPlace {
  readonly domain: string
  readonly images: PlatformImages
  readonly trusted: string | undefined
}

/**
 * Returns the authorities of `--ca` if one of them has signed the certificate of the API server; otherwise undefined.
 */
const authorityOf = async (server: string, trusted: string | undefined, world: ImagesContext) =>
  (await givenAuthority(world, server, trusted)) === undefined ? undefined : trusted

const isLoopback = (host: string): boolean => host === 'localhost' || host === '[::1]' || host.startsWith('127.')

type Warn = (problem: Omit<PlatformProblem, 'notes'> & { readonly notes?: readonly string[] }) => void

const warnerOf =
  ({ io, logLevel }: Context): Warn =>
  ({ message: text, notes, hint }) => {
    printWarning({ text, notes, hint }, io, logLevel)
  }

/**
 * Returns the address of the API server unchanged. Throws a UsageError for an address that is neither HTTPS nor at
 * 127.0.0.1, because the programs of users send their tokens to it.
 */
function readServer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isAddress = url && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash
  if (isAddress && (url.protocol === 'https:' || url.hostname === '127.0.0.1')) return text
  throw new UsageError(`\`--kubernetes-server\` is \`${text}\``, {
    hint: 'write the address of the API server, such as `https://kubernetes.example.com:6443`',
  })
}

/**
 * Returns the networks of the cluster. If an operator lists the networks, only they are used, also in later upgrades,
 * until the operator passes `-`. Otherwise detected networks are added to the networks of the installed platform, which
 * are kept because nodes come and go.
 */
async function networksOf(
  cluster: Cluster,
  {
    clusterNetworks: named,
    privateNetworks: opened,
  }: Pick<PlatformInstallValues, 'clusterNetworks' | 'privateNetworks'>,
  before: InstalledOptions | undefined,
  warn: Warn,
  signal: AbortSignal,
): Promise<Pick<Installation, 'clusterNetworks' | 'privateNetworks' | 'areNetworksNamed'>> {
  const seen = await clusterNetworks(cluster, signal)
  const isNamed = named === undefined ? before?.areNetworksNamed === true : named !== '-'
  const known = named === undefined ? (before?.clusterNetworks ?? []) : []
  const all =
    named !== undefined && isNamed
      ? readNetworks(named, '10.42.0.0/16')
      : isNamed
        ? known
        : [...new Set([...known, ...seen.networks])].sort()
  const privateNetworks = opened === undefined ? (before?.privateNetworks ?? []) : readPrivateNetworks(opened)
  const listed = { clusterNetworks: all, privateNetworks, areNetworksNamed: isNamed }
  // Namespaces can reach any network that is not listed.
  const problem = openProblem(await openAddresses(cluster, seen, listed, signal), listed)
  if (problem) warn(problem)
  return isNamed ? listed : { clusterNetworks: all, privateNetworks }
}

function readProxies(text: string): readonly string[] {
  if (text === '-') return []
  return text.split(',').map(one => {
    if (isProxy(one.trim())) return one.trim()
    throw new UsageError(`\`${one}\` is neither an address nor a network`, {
      hint: 'write `10.42.3.7` or `10.42.3.0/24`, with commas between several; a network of all addresses is not allowed',
    })
  })
}
