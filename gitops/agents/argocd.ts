import { controllerAddress } from '../../adapters/git/repository-url.ts'
import { printYaml } from '../../constructs/yaml.ts'
import { type AgentTarget, type ArtifactTarget, agentName, comments, folderOf } from './agents.ts'

/** The further settings of an Application; absent ones get the values usual for Argo CD. */
export interface ArgocdSettings {
  readonly project?: string
  /**
   * The cluster it runs on: the name that Argo CD knows it by, or the address of its API server.
   */
  readonly destination?: string
  /** Leave out the finalizer: the objects stay when the Application is deleted. */
  readonly keepsObjects?: boolean
}

/**
 * An Application of Argo CD for a published folder
 * (https://argo-cd.readthedocs.io/en/stable/user-guide/application-specification/). Throws a
 * UserError for a repository that no controller can reach.
 */
export function argocdApplication(target: AgentTarget, settings: ArgocdSettings = {}): string {
  const { branch, path, shared } = target
  const source = { repoURL: controllerAddress(target.repository), targetRevision: branch, path: folderOf(path) || '.' }
  // Commits to other folders do not make Argo CD generate the manifests again; a path with `/` is
  // from the root.
  const paths = ['.', ...(shared === undefined ? [] : [`/${shared}`])].join(';')
  return `${CREDENTIALS}${printApplication(target, settings, { source, paths })}`
}

/**
 * Returns the Application for an artifact; Argo CD reads artifacts since 3.1
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

/** Comment lines before an object. */
export const CREDENTIALS = comments([
  'A private repository: give Argo CD its credentials, with `argocd repo add` or a Secret that is labelled',
  '`argocd.argoproj.io/secret-type: repository`.',
])

const REGISTRY_CREDENTIALS = comments([
  'A private registry: give Argo CD its credentials, with `argocd repo add --type oci` or a Secret with `type: oci` that is',
  'labelled `argocd.argoproj.io/secret-type: repository`.',
])

/** The source and the destination of a sync: texts, or templates of them. */
export interface Synced {
  readonly name: string
  /**
   * The paths in the repository that the manifests are made from, with `;` between them. Absent:
   * all of it.
   */
  readonly paths?: string
  readonly source: Readonly<Record<'repoURL' | 'targetRevision' | 'path', string>>
  readonly namespace: string
  readonly syncOptions: readonly string[]
}

/** The metadata, but for its namespace, and the `spec` of an Application. */
export function applicationTemplate(settings: ArgocdSettings, synced: Synced) {
  const { keepsObjects = false } = settings
  const { name, paths } = synced
  return {
    metadata: {
      name,
      ...(paths !== undefined && { annotations: { 'argocd.argoproj.io/manifest-generate-paths': paths } }),
      // With the finalizer the objects go with the Application; those that are to be kept stay.
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
      // A failed sync is tried again, with the newest commit.
      retry: { limit: 5, refresh: true, backoff: { duration: '10s', factor: 2, maxDuration: '3m' } },
    },
  }
}
