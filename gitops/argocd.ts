import { printYaml } from '../constructs/yaml.ts'
import { type AgentTarget, agentName, comments, folderOf } from './agents.ts'
import { controllerAddress } from './repository-url.ts'

/** What an Application says besides; what is absent is as Argo CD's users have it. */
export interface ArgocdSettings {
  readonly project?: string
  /** The cluster it runs on: the name that Argo CD knows it by, or the address of its API server. */
  readonly destination?: string
  /** Leave out the finalizer: the objects stay when the Application is deleted. */
  readonly keepsObjects?: boolean
}

/**
 * An Application of Argo CD for a published folder (https://argo-cd.readthedocs.io/en/stable/user-guide/application-specification/).
 * Throws a UserError for a repository that no controller can reach.
 */
export function argocdApplication(target: AgentTarget, settings: ArgocdSettings = {}): string {
  const { controllerNamespace: namespace = 'argocd', branch, path, shared, createNamespace } = target
  const { metadata, spec } = applicationTemplate(settings, {
    name: agentName(target),
    ...(shared !== undefined && { shared }),
    source: { repoURL: controllerAddress(target.repository), targetRevision: branch, path: folderOf(path) || '.' },
    namespace: target.namespace,
    syncOptions: [...(createNamespace ? [] : ['CreateNamespace=true']), 'ServerSideApply=true'],
  })
  const { name, ...marks } = metadata
  const application = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name, namespace, ...marks },
    spec,
  }
  return `${CREDENTIALS}${printYaml(application)}`
}

/** Comment lines before an object. */
export const CREDENTIALS = comments([
  'A private repository: tell Argo CD its credentials, `argocd repo add` or a Secret that is labelled',
  '`argocd.argoproj.io/secret-type: repository`.',
])

/** What is synced where: texts, or templates of them. */
export interface Synced {
  readonly name: string
  /** Folder that overlays take their bases from. */
  readonly shared?: string
  readonly source: Readonly<Record<'repoURL' | 'targetRevision' | 'path', string>>
  readonly namespace: string
  readonly syncOptions: readonly string[]
}

/** The metadata, but for its namespace, and the `spec` of an Application. */
export function applicationTemplate(settings: ArgocdSettings, synced: Synced) {
  const { keepsObjects = false } = settings
  const { name, shared } = synced
  // Commits to other folders do not make Argo CD generate the manifests again; a path with `/` is from the root.
  const paths = ['.', ...(shared === undefined ? [] : [`/${shared}`])].join(';')
  return {
    metadata: {
      name,
      annotations: { 'argocd.argoproj.io/manifest-generate-paths': paths },
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
      // What has failed is tried again, with the newest commit.
      retry: { limit: 5, refresh: true, backoff: { duration: '10s', factor: 2, maxDuration: '3m' } },
    },
  }
}
