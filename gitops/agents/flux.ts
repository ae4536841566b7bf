import { controllerAddress } from '../../adapters/git/repository-url.ts'
import { printYaml } from '../../constructs/yaml.ts'
import { type AgentTarget, type ArtifactTarget, agentName, comments, folderOf } from './agents.ts'

/** Optional settings of the Flux objects. Durations use Go's syntax. */
export interface FluxSettings {
  /** Interval at which the repository is checked for a new commit. Default: `1m`. */
  readonly sourceInterval?: string
  /** Interval at which the cluster is compared with the commit. Default: `10m`. */
  readonly interval?: string
  /** Delay before a failed reconciliation is retried. Default: `1m`. */
  readonly retryInterval?: string
  /** Time limit for the objects to become ready. Default: `5m`. */
  readonly healthTimeout?: string
  /** ServiceAccount that applies the objects, in the namespace of the Kustomization. */
  readonly serviceAccount?: string
  /** Namespace that replaces the namespaces in the manifests. */
  readonly targetNamespace?: string
  /** Secret with the kubeconfig of another cluster. */
  readonly kubeconfigSecret?: string
  /** Secret with the keys that decrypt the values encrypted by SOPS. */
  readonly decryptionSecret?: string
}

/**
 * Returns the GitRepository and the Kustomization of Flux for a published folder
 * (https://fluxcd.io/flux/components/kustomize/kustomizations/). The manifests name their namespaces, unless
 * `targetNamespace` is set. Throws a UserError for a repository that no controller can reach.
 */
export function fluxObjects(target: AgentTarget, settings: FluxSettings = {}): string {
  const { repository, branch } = target
  const url = controllerAddress(repository)
  const isSsh = /^ssh:/i.test(url)
  const keys = isSsh ? '`identity` and `known_hosts`' : '`username` and `password`'
  const secret = comments([
    `${isSsh ? 'ssh needs' : 'A private repository needs'} a Secret with ${keys}; add to the spec below:`,
    '  secretRef:',
    `    name: ${agentName(target)}-git`,
  ])
  return secret + printObjects(target, settings, { kind: 'GitRepository', spec: { url, ref: { branch } } }, target.path)
}

/**
 * Returns the OCIRepository and the Kustomization of Flux for an artifact
 * (https://fluxcd.io/flux/components/source/ocirepositories/).
 */
export function fluxArtifactObjects(target: ArtifactTarget, settings: FluxSettings = {}): string {
  const { artifact, tag } = target
  const secret = comments([
    'A private registry needs a Secret, created with `kubectl create secret docker-registry`; add to the spec below:',
    '  secretRef:',
    `    name: ${agentName(target)}-oci`,
  ])
  const spec = { url: `oci://${artifact}`, ref: { tag } }
  return secret + printObjects(target, settings, { kind: 'OCIRepository', spec }, '')
}

interface Source {
  readonly kind: 'GitRepository' | 'OCIRepository'
  readonly spec: object
}

function printObjects(
  target: AgentTarget | ArtifactTarget,
  settings: FluxSettings,
  { kind, spec }: Source,
  path: string,
): string {
  const { sourceInterval = '1m', targetNamespace = target.namespace } = settings
  const name = agentName(target)
  const metadata = { name, namespace: target.controllerNamespace ?? 'flux-system' }
  const source = {
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    kind,
    metadata,
    spec: { interval: sourceInterval, ...spec },
  }
  const kustomization = {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata,
    spec: kustomizationSpec({ kind, name }, path, settings),
  }
  const place = target.createNamespace ? '' : comments([`The namespace \`${targetNamespace}\` must exist.`])
  return `${printYaml(source)}---\n${place}${printYaml(kustomization)}`
}

function kustomizationSpec(
  sourceRef: { readonly kind: Source['kind']; readonly name: string },
  path: string,
  settings: FluxSettings,
) {
  const { interval = '10m', retryInterval = '1m', healthTimeout = '5m' } = settings
  const { serviceAccount, targetNamespace, kubeconfigSecret, decryptionSecret } = settings
  const secretRef = (name: string) => ({ secretRef: { name } })
  return {
    interval,
    retryInterval,
    timeout: healthTimeout,
    ...(serviceAccount !== undefined && { serviceAccountName: serviceAccount }),
    ...(kubeconfigSecret !== undefined && { kubeConfig: secretRef(kubeconfigSecret) }),
    sourceRef,
    path: `./${folderOf(path)}`,
    ...(targetNamespace !== undefined && { targetNamespace }),
    prune: true,
    wait: true,
    ...(decryptionSecret !== undefined && { decryption: { provider: 'sops', ...secretRef(decryptionSecret) } }),
  }
}
