import type { adminRoutes, ShownSettings } from '../../api/admin.ts'
import type { ProviderSettings } from '../../rules/accounts/provider.ts'
import type { Settings } from '../context.ts'
import type { Overviews } from '../namespaces/overviews.ts'
import type { HandlersOf } from './handler.ts'

export const adminHandlers = (settings: Settings, overviews: Overviews): HandlersOf<typeof adminRoutes> => ({
  'GET /admin/overview': () => overviews.read(),
  'GET /settings': async () => toShownSettings(settings),
})

const HOUR = 3_600_000

/** Returns the settings for administrators, including the default values. */
export function toShownSettings(settings: Settings): ShownSettings {
  const { idleness, kubernetes, runs, providers, ci, builders, registry, registryTokens } = settings
  const hours = ({ namespace, preview }: Settings['idleness']['sleep']) => ({
    namespace: namespace / HOUR,
    preview: preview / HOUR,
  })
  return {
    domain: settings.domain,
    url: settings.url,
    kubernetes: kubernetes.server,
    namespacesPerUser: settings.namespacesPerUser,
    previewsPerUser: settings.previewsPerUser,
    sleepHours: hours(idleness.sleep),
    deleteHours: hours(idleness.delete),
    ...(runs && { runs: { image: runs.image, perUser: runs.perUser, inAll: runs.inAll, deadline: runs.deadline } }),
    providers: providers.map(toShownProvider),
    ci: ci.map(({ kind, issuer, rules }) => ({ kind, issuer, rules: [...rules] })),
    ...(builders && {
      builders: {
        default: [...builders.default],
        untrusted: [...builders.untrusted],
        atOnce: builders.atOnce,
        oneNamespace: builders.oneNamespace === true,
      },
    }),
    ...(registry !== undefined && { registry }),
    registryTokens: registryTokens === true,
    clusterNetworks: [...settings.clusterNetworks],
    privateNetworks: [...settings.privateNetworks],
    trustedProxies: [...settings.trustedProxies],
  }
}

function toShownProvider(one: ProviderSettings): ShownSettings['providers'][number] {
  const { id, name, kind } = one
  if (kind === 'github') return { id, name, kind, address: one.url, allow: [...one.allow] }
  return { id, name, kind, address: one.issuer, allow: one.allow.map(({ claim, value }) => `${claim}=${value}`) }
}
