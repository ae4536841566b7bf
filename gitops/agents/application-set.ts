import { posix } from 'node:path'
import { controllerAddress } from '../../adapters/git/repository-url.ts'
import { printYaml } from '../../constructs/yaml.ts'
import { LOCK_NAME } from '../../project/lock.ts'
import { folderOf } from './agents.ts'
import { type ArgocdSettings, applicationTemplate, CREDENTIALS } from './argocd.ts'

/** Published folders of a repository, as covered by one ApplicationSet. */
export interface AllTarget {
  /** Name of the ApplicationSet; a DNS label. */
  readonly name: string
  /** Environment whose folders are included. If absent, the folders of all environments. */
  readonly environment?: string
  readonly repository: string
  readonly branch: string
  /** Folder in the repository, with `/` as the separator. Only folders inside this folder are included. */
  readonly path: string
  /** Namespace of the ApplicationSet and its Applications. If absent, `argocd`. */
  readonly controllerNamespace?: string
}

/**
 * Returns an Argo CD ApplicationSet that creates an Application for every published folder
 * (https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators-Git/). The lock file of a folder
 * supplies the name and the namespace. Throws a UserError for a repository that no controller can reach.
 */
export function argocdApplicationSet(target: AllTarget, settings: ArgocdSettings = {}): string {
  const { name, environment, branch, controllerNamespace: namespace = 'argocd' } = target
  const repoURL = controllerAddress(target.repository)
  const folder = folderOf(target.path)
  const git = {
    repoURL,
    revision: branch,
    // The first pattern does not match a lock file in the folder itself, because Argo CD matches like git, where a
    // leading `**` stands for at least one folder.
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
      // Unless this is set, the controller adds the finalizer to every Application.
      ...(settings.keepsObjects && { syncPolicy: { preserveResourcesOnDeletion: true } }),
      template: applicationTemplate(settings, {
        name: '{{ .application }}{{ with index . "environment" }}-{{ normalize . }}{{ end }}',
        paths: '.;/apps/{{ .application }}',
        source: { repoURL, targetRevision: branch, path: '{{ .path.path }}' },
        namespace: '{{ .namespace }}',
        // If the manifests include the Namespace, Argo CD uses the Namespace from the manifests.
        syncOptions: ['CreateNamespace=true', 'ServerSideApply=true'],
      }),
    },
  }
  return `${CREDENTIALS}${printYaml(applicationSet)}`
}

/**
 * Returns the label selector for the lock files of published folders. The label `namespace` is required, because it
 * excludes the lock files of overlay bases.
 */
const selectorOf = (environment: string | undefined) => ({
  ...(environment !== undefined && { matchLabels: { environment } }),
  matchExpressions: [{ key: 'namespace', operator: 'Exists' }],
})
