import { posix } from 'node:path'
import { controllerAddress } from '../../adapters/git/repository-url.ts'
import { printYaml } from '../../constructs/yaml.ts'
import { LOCK_NAME } from '../../project/lock.ts'
import { folderOf } from './agents.ts'
import { type ArgocdSettings, applicationTemplate, CREDENTIALS } from './argocd.ts'

/** Published folders of a repository. */
export interface AllTarget {
  /** The name of the ApplicationSet; DNS label. */
  readonly name: string
  /** Only the folders of this environment; absent: all. */
  readonly environment?: string
  readonly repository: string
  readonly branch: string
  /** Only the folders in this one, with `/`. */
  readonly path: string
  /** Namespace of the ApplicationSet and its Applications; absent: the default one. */
  readonly controllerNamespace?: string
}

/**
 * An ApplicationSet of Argo CD that makes an Application of every published folder
 * (https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators-Git/). The
 * lock of a folder gives the name and the namespace. Throws a UserError for a repository that no
 * controller can reach.
 */
export function argocdApplicationSet(target: AllTarget, settings: ArgocdSettings = {}): string {
  const { name, environment, branch, controllerNamespace: namespace = 'argocd' } = target
  const repoURL = controllerAddress(target.repository)
  const folder = folderOf(target.path)
  const git = {
    repoURL,
    revision: branch,
    // The first does not find the folder's own: Argo CD matches as git does, where `**/` is one
    // folder at least.
    files: ['**', '.'].map(below => ({ path: posix.join(folder, below, LOCK_NAME) })),
  }
  const applicationSet = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'ApplicationSet',
    metadata: { name, namespace },
    spec: {
      goTemplate: true,
      goTemplateOptions: ['missingkey=error'],
      generators: [{ git, selector: selectorOf(environment) }],
      // The controller gives every Application the finalizer, unless this is set.
      ...(settings.keepsObjects && { syncPolicy: { preserveResourcesOnDeletion: true } }),
      template: applicationTemplate(settings, {
        name: '{{ .application }}{{ with index . "environment" }}-{{ normalize . }}{{ end }}',
        paths: '.;/apps/{{ .application }}',
        source: { repoURL, targetRevision: branch, path: '{{ .path.path }}' },
        namespace: '{{ .namespace }}',
        // If the manifests include the Namespace, Argo CD uses that one.
        syncOptions: ['CreateNamespace=true', 'ServerSideApply=true'],
      }),
    },
  }
  return `${CREDENTIALS}${printYaml(applicationSet)}`
}

/** Bases of overlays have a lock, too, which says no namespace. */
const selectorOf = (environment: string | undefined) => ({
  ...(environment !== undefined && { matchLabels: { environment } }),
  matchExpressions: [{ key: 'namespace', operator: 'Exists' }],
})
