import { toDnsLabel } from '../compiler/values/dns-name.ts'
import { printYaml } from '../constructs/yaml.ts'
import { controllerAddress } from './repository-url.ts'

/** What a controller has to know of an application in a repository. */
export interface AgentTarget {
  readonly application: string
  /** The key of the environment, if it has one. */
  readonly environment?: string
  /** Where it runs. */
  readonly namespace: string
  /** Address of the GitOps repository, as it is published to. */
  readonly repository: string
  readonly branch: string
  /** Folder in the repository, with `/`. */
  readonly path: string
  /** Whether the manifests have the object of the namespace. */
  readonly createNamespace?: boolean
}

/**
 * An Application of Argo CD for a published folder (https://argo-cd.readthedocs.io/en/stable/user-guide/application-specification/).
 * Throws a UserError for a repository that no controller can reach.
 */
export function argocdApplication(target: AgentTarget): string {
  const { namespace, repository, branch, path, createNamespace } = target
  const application = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    // With the finalizer the objects go with the Application; those that are to be kept stay.
    metadata: { name: agentName(target), namespace: 'argocd', finalizers: ['resources-finalizer.argocd.argoproj.io'] },
    spec: {
      project: 'default',
      source: { repoURL: controllerAddress(repository), targetRevision: branch, path: folder(path) || '.' },
      destination: { server: 'https://kubernetes.default.svc', namespace },
      syncPolicy: {
        automated: { prune: true, selfHeal: true },
        syncOptions: [...(createNamespace ? [] : ['CreateNamespace=true']), 'ServerSideApply=true'],
        // What has failed is tried again, with the newest commit.
        retry: { limit: 5, refresh: true, backoff: { duration: '10s', factor: 2, maxDuration: '3m' } },
      },
    },
  }
  const comment = ['A private repository: tell Argo CD its credentials, `argocd repo add` or a Secret that is labelled']
  return `${comments([...comment, '`argocd.argoproj.io/secret-type: repository`.'])}${printYaml(application)}`
}

/**
 * The GitRepository and the Kustomization of Flux for a published folder (https://fluxcd.io/flux/components/kustomize/kustomizations/).
 * No `targetNamespace`: the manifests say where they belong. Throws a UserError for a repository that no controller can reach.
 */
export function fluxObjects(target: AgentTarget): string {
  const { namespace, repository, branch, path } = target
  const name = agentName(target)
  const metadata = { name, namespace: 'flux-system' }
  const url = controllerAddress(repository)
  const source = {
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    kind: 'GitRepository',
    metadata,
    spec: { interval: '1m', url, ref: { branch } },
  }
  const kustomization = {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata,
    spec: {
      interval: '10m',
      retryInterval: '1m',
      timeout: '5m',
      sourceRef: { kind: 'GitRepository', name },
      path: `./${folder(path)}`,
      prune: true,
      wait: true,
    },
  }
  const isSsh = /^ssh:/i.test(url)
  const keys = isSsh ? '`identity` and `known_hosts`' : '`username` and `password`'
  const secret = comments([
    `${isSsh ? 'ssh needs' : 'A private repository needs'} a Secret with ${keys}; add to the spec below:`,
    '  secretRef:',
    `    name: ${name}-git`,
  ])
  const place = target.createNamespace ? '' : comments([`The namespace \`${namespace}\` must be there.`])
  return `${secret}${printYaml(source)}---\n${place}${printYaml(kustomization)}`
}

/** `shop-staging`; both controllers write it into a label, too. */
export const agentName = ({ application, environment }: Pick<AgentTarget, 'application' | 'environment'>): string =>
  toDnsLabel(environment === undefined ? application : `${application}-${environment}`)

/** The folder without `./` before it and slashes around it; the repository's own is empty. */
const folder = (path: string) => path.replaceAll(/^(\.?\/)+|\/+$/g, '').replace(/^\.$/, '')

const comments = (lines: readonly string[]) => lines.map(line => `# ${line}\n`).join('')
