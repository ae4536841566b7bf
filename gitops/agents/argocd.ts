import { controllerAddress } from '../../adapters/git/repository-url.ts'
import { printYaml } from '../../constructs/yaml.ts'
import { type AgentTarget, type ArtifactTarget, agentName, comments, folderOf } from './agents.ts'

/** Optional settings of an Application. Absent settings get Argo CD's usual values. */
export interface ArgocdSettings {
  readonly project?: string
  /**
   * Cluster that the application runs on: its name in Argo CD, or the address of its API server. If absent, the cluster
   * of Argo CD.
   */
  readonly destination?: string
  /** True to omit the finalizer, so that the objects remain when the Application is deleted. */
  readonly keepsObjects?: boolean
}

/**
 * Returns an Argo CD Application for a published folder
 * (https://argo-cd.readthedocs.io/en/stable/user-guide/application-specification/). Throws a UserError for a repository
 * that no controller can reach.
 */
export function argocdApplication(target: AgentTarget, settings: ArgocdSettings = {}): string {
  const { branch, path, shared } = target
  const source = { repoURL: controllerAddress(target.repository), targetRevision: branch, path: folderOf(path) || '.' }
  // Commits to other folders do not make Argo CD regenerate the manifests. A path that starts with `/` is relative to
  // the root.
  const paths = ['.', ...(shared === undefined ? [] : [`/${shared}`])].join(';')
  return `${CREDENTIALS}${printApplication(target, settings, { source, paths })}`
}

/**
 * Returns the Application for an artifact. Argo CD reads artifacts since version 3.1
 * (https://argo-cd.readthedocs.io/en/stable/user-guide/oci/).
 */
export function argocdArtifactApplication(target: ArtifactTarget, settings: ArgocdSettings = {}): string {
  const { artifact, tag } = target
  const source = { repoURL: `oci://${artifact}`, targetRevision: tag, path: '.' }
  return `${REGISTRY_CREDENTIALS}${printApplication(target, settings, { source })}`
}

function printApplication(
  target: AgentTarget | ArtifactTarget,
  settings: ArgocdSettings,
  from: Pick<Synced, 'source' | 'paths'>,
): string {
  const { controllerNamespace: namespace = 'argocd', createNamespace } = target
  const { metadata, spec } = applicationTemplate(settings, {
    ...from,
    name: agentName(target),
    namespace: target.namespace,
    syncOptions: [...(createNamespace ? [] : ['CreateNamespace=true']), 'ServerSideApply=true'],
  })
  const { name, ...marks } = metadata
  return printYaml({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name, namespace, ...marks },
    spec,
  })
}

/** Comment about the credentials of a private repository, written before an object. */
export const CREDENTIALS = comments([
  'A private repository: give Argo CD its credentials, with `argocd repo add` or a Secret that is labelled',
  '`argocd.argoproj.io/secret-type: repository`.',
])

const REGISTRY_CREDENTIALS = comments([
  'A private registry: give Argo CD its credentials, with `argocd repo add --type oci` or a Secret with `type: oci` that is',
  'labelled `argocd.argoproj.io/secret-type: repository`.',
])

/** Source and destination of a sync, as literal texts or templates. */
export interface Synced {
  readonly name: string
  /**
   * Paths in the repository that the manifests are generated from, separated by `;`. If absent, the full repository.
   */
  readonly paths?: string
  readonly source: Readonly<Record<'repoURL' | 'targetRevision' | 'path', string>>
  readonly namespace: string
  readonly syncOptions: readonly string[]
}

/** Returns the metadata of an Application, without the namespace, and its `spec`. */
export function applicationTemplate(settings: ArgocdSettings, synced: Synced) {
  const { keepsObjects = false } = settings
  const { name, paths } = synced
  return {
    metadata: {
      name,
      ...(paths !== undefined && { annotations: { 'argocd.argoproj.io/manifest-generate-paths': paths } }),
      // The finalizer deletes the objects together with the Application, except those marked to be kept.
      ...(!keepsObjects && { finalizers: ['resources-finalizer.argocd.argoproj.io'] }),
    },
    spec: specOf(settings, synced),
  }
}

function specOf(settings: ArgocdSettings, { source, namespace, syncOptions }: Synced) {
  const { project = 'default', destination = 'https://kubernetes.default.svc' } = settings
  const isAddress = /^https?:\/\//i.test(destination)
  return {
    project,
    source,
    destination: { [isAddress ? 'server' : 'name']: destination, namespace },
    syncPolicy: {
      automated: { prune: true, selfHeal: true },
      syncOptions,
      // Argo CD retries a failed sync with the newest commit.
      retry: { limit: 5, refresh: true, backoff: { duration: '10s', factor: 2, maxDuration: '3m' } },
    },
  }
}
