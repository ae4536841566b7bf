import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import type { AgentSettings } from '../../gitops/init/input.ts'
import { dnsLabel, dnsName } from '../../project/checks.ts'
import { parseDuration } from './duration.ts'
import { longFlag, type Option, text, type Values } from './option.ts'

const dns = (flags: string, description: string) => text(flags, description, { check: dnsName })
const span = (flags: string, description: string) => text(flags, description, { check: positive })

/** Options that only apply to an Argo CD Application. */
export const argocdOptions = {
  project: dns('--project <name>', 'Argo CD: project of the Application (default: `default`)'),
  destination: text(
    '--destination <cluster>',
    'Argo CD: cluster to deploy to, by its name in Argo CD or the address of its API server (default: the cluster of Argo CD)',
  ),
  finalizer: {
    flags: '--no-finalizer',
    description: 'Argo CD: keep the objects when the Application is deleted',
  } as Option<boolean>,
}

/** Options that only apply to Flux objects. */
export const fluxOptions = {
  serviceAccount: dns('--service-account <name>', 'Flux: service account that applies the objects'),
  targetNamespace: text(
    '--target-namespace <namespace>',
    'Flux: apply to this namespace instead of those in the manifests',
    { check: dnsLabel, completes: 'namespace' },
  ),
  kubeconfigSecret: dns('--kubeconfig-secret <name>', 'Flux: Secret with the kubeconfig of the cluster to deploy to'),
  decryptionSecret: dns(
    '--decryption-secret <name>',
    'Flux: Secret with the SOPS decryption keys (default: `sops-age` with `backend: sops`)',
  ),
  interval: span('--interval <duration>', 'Flux: how often to compare the cluster with the commit (default: 10m)'),
  sourceInterval: span(
    '--source-interval <duration>',
    'Flux: how often to check the repository for a new commit (default: 1m)',
  ),
  retryInterval: span('--retry-interval <duration>', 'Flux: how soon to retry after a failure (default: 1m)'),
  healthTimeout: span(
    '--health-timeout <duration>',
    'Flux: how long to wait for the objects to become ready (default: 5m)',
  ),
}

export type AgentValues = Values<typeof argocdOptions> & Values<typeof fluxOptions>

/**
 * Returns the settings for the object of Argo CD or Flux from the options. Throws a UsageError for an option that only
 * applies to the controller that is not used.
 */
export function agentSettings(values: AgentValues, isArgocd: boolean): AgentSettings {
  const others = Object.entries(isArgocd ? fluxOptions : argocdOptions) as [keyof AgentValues, { flags: string }][]
  const wrong = others.find(([key]) => (key === 'finalizer' ? !values.finalizer : values[key] !== undefined))
  const [ours, theirs] = isArgocd ? ['--argocd', '--flux'] : ['--flux', '--argocd']
  if (wrong) throw new UsageError(`\`${longFlag(wrong[1].flags)}\` is for \`${theirs}\`, not for \`${ours}\``)
  const { finalizer, ...rest } = values
  const said = Object.keys({ ...argocdOptions, ...fluxOptions }).flatMap(key => {
    const value = rest[key as keyof typeof rest]
    return value === undefined ? [] : [[key, value] as const]
  })
  return { ...Object.fromEntries(said), ...(!finalizer && { keepsObjects: true }) }
}

/** Throws a UsageError for a duration of zero: https://fluxcd.io/flux/components/kustomize/kustomizations/#interval */
function positive(value: string, option: string): void {
  if (parseDuration(value, option) === 0) throw new UsageError(`\`${option}\` is \`${value}\`: it must be more than 0`)
}
