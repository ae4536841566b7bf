import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { PLATFORM_NAMESPACE } from '../records/names.ts'
import type { ProviderSettings } from '../rules/accounts/provider.ts'
import { type UnknownSetting, unknownSettings } from '../rules/setting-keys.ts'
import { certManagerOf } from './certificates/other-certificates.ts'
import { ownFingerprint } from './certificates/own-certificate.ts'
import { type InstallContext, ownRef } from './install-context.ts'
import { MADE_CERTIFICATE } from './manifests/certificate.ts'
import { type Installation, SETTINGS_FILE, TRUSTED_FILE, undecided } from './manifests/server.ts'

/** Name of the ConfigMap with the settings. */
export const SETTINGS = 'settings'

/** Settings and options of the installed platform that devctl needs. */
export interface Installed {
  readonly url: string
  readonly domain: string | undefined
  readonly providers: readonly ProviderSettings[]
  readonly trusted: string | undefined
  /** Image that runs use; undefined if the settings contain none. */
  readonly runnerImage: string | undefined
  /** Settings that an administrator has written and that no option sets. */
  readonly kept: Readonly<Record<string, unknown>>
  /** Unknown keys in the settings: typos, or settings of a newer version. */
  readonly unknown: readonly UnknownSetting[]
  /** Values that were set by options. */
  readonly options: InstalledOptions
}

/** Values that options have set, as read from the objects of an installation. */
export type InstalledOptions = Partial<
  Pick<Installation, 'replicas' | 'tlsSecret' | 'ingressClass' | 'certManager' | 'ownCa'>
> & {
  readonly clusterNetworks: readonly string[]
  readonly privateNetworks: readonly string[]
  readonly areNetworksNamed: boolean
  /** Address of the API server for users. */
  readonly server?: string
  /** Certificate authority of `server`, in PEM; absent if it is a public one. */
  readonly serverCa?: string
}

/**
 * Returns the installed platform; undefined if there is none. Throws a UserError if its settings are missing or cannot
 * be read.
 */
export async function findPlatform({ cluster, signal }: InstallContext): Promise<Installed | undefined> {
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: SETTINGS, namespace: PLATFORM_NAMESPACE }
  const settings = await cluster.get(ref, { signal })
  const data = settings?.['data'] as Readonly<Record<string, string>> | undefined // a ConfigMap's
  const text = data?.[SETTINGS_FILE]
  const deployment = await cluster.get(ownRef('apps/v1', 'Deployment'), { signal })
  if (text === undefined) {
    if (deployment) throw settingsAreGone()
    return undefined
  }
  const found = readWritten(text)
  const { url, domain, providers = [], clusterNetworks = [], privateNetworks = [], kubernetes, runs } = found
  const ingress = await cluster.get(ownRef('networking.k8s.io/v1', 'Ingress'), { signal })
  const { replicas } = (deployment?.['spec'] ?? {}) as { readonly replicas?: number } // as Kubernetes defines them
  const { ingressClassName, tls } = (ingress?.['spec'] ?? {}) as IngressSpec
  const tlsSecret = tls?.[0]?.secretName
  const isMade = tlsSecret === MADE_CERTIFICATE
  const certManager = isMade ? await certManagerOf(cluster, signal) : undefined
  // After a restore, or an `uninstall` that kept the settings, there is no Ingress that names the certificate.
  const mayBeOwn = ingress === undefined || (isMade && certManager === undefined)
  const isOwn = mayBeOwn && (await ownFingerprint(cluster, signal)) !== undefined
  const options = {
    clusterNetworks,
    privateNetworks,
    areNetworksNamed: found.clusterNetworksNamed ?? false,
    ...(certManager !== undefined && { certManager }),
    ...(isOwn && { ownCa: true }),
    ...(replicas !== undefined && { replicas }),
    ...(isOwn ? { tlsSecret: MADE_CERTIFICATE } : tlsSecret !== undefined && { tlsSecret }),
    ...(ingressClassName !== undefined && { ingressClass: ingressClassName }),
    ...(kubernetes?.server !== undefined && { server: kubernetes.server }),
    ...(kubernetes?.ca !== undefined && { serverCa: kubernetes.ca }),
  }
  return {
    url,
    domain,
    providers,
    trusted: data?.[TRUSTED_FILE],
    runnerImage: runs?.image,
    kept: undecided(found),
    unknown: unknownSettings(found),
    options,
  }
}

/**
 * Returns the error for missing settings. The command cannot continue, because an installation without them would lose
 * the login providers and the values of other options.
 */
const settingsAreGone = (): UserError =>
  new UserError('the platform has lost its settings: the ConfigMap `settings` is missing, or has no `settings.json`', {
    notes: [
      `a running Pod still has them: \`kubectl --namespace ${PLATFORM_NAMESPACE} exec deployment/platform -- cat /etc/devctl/${SETTINGS_FILE} >${SETTINGS_FILE}\``,
      `restore them from it, or from a backup: \`kubectl --namespace ${PLATFORM_NAMESPACE} create configmap settings --from-file ${SETTINGS_FILE}\``,
    ],
    hint: `to start with new settings, delete the Deployment, and install again with all options: \`kubectl --namespace ${PLATFORM_NAMESPACE} delete deployment platform\``,
  })

/** Parses the settings. Throws a UserError if they were edited and can no longer be parsed. */
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

/** Settings as an installation writes them; older versions wrote fewer. */
interface Written
  extends Partial<Pick<Installation, 'providers' | 'clusterNetworks' | 'privateNetworks' | 'kubernetes'>> {
  readonly url: string
  readonly domain?: string
  readonly clusterNetworksNamed?: boolean
  readonly runs?: { readonly image?: string }
}

interface IngressSpec {
  readonly ingressClassName?: string
  readonly tls?: readonly { readonly secretName?: string }[]
}

/** Returns the installed platform. Throws a UserError if there is none. */
export async function requirePlatform(world: InstallContext): Promise<Installed> {
  const found = await findPlatform(world)
  if (found) return found
  throw new UserError('the cluster has no platform', { hint: '`devctl platform install` installs it' })
}
