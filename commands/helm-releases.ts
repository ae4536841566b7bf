import type { CallOptions, Cluster, KubeObject } from '../adapters/kubernetes/cluster.ts'
import { ENVIRONMENT_LABEL, ORIGIN_ANNOTATION, ORIGIN_COMMAND } from '../adapters/kubernetes/labelling-proxy/labels.ts'
import type { ManifestCommand } from './run-commands.ts'

/**
 * Lists the names of the Helm releases in a namespace that commands of an environment installed, sorted. Finds them by
 * the Secrets in which Helm stores each revision, because these Secrets have our label. Includes releases with objects
 * that are annotated to be kept; `helm uninstall` itself skips such objects.
 */
export async function listHelmReleases(
  cluster: Cluster,
  environment: string,
  namespace: string,
  options: CallOptions = {},
): Promise<readonly string[]> {
  const labels = `${ENVIRONMENT_LABEL}=${environment},owner=helm`
  const secrets = await cluster.list({ apiVersion: 'v1', kind: 'Secret', namespace, labels }, options)
  const names = secrets.filter(secret => secret['type'] === 'helm.sh/release.v1').map(nameOfRelease)
  return [...new Set(names)].filter(name => name !== '').sort()
}

const nameOfRelease = ({ metadata }: KubeObject) => metadata.labels?.['name'] ?? ''

/**
 * Returns the command that uninstalls releases, for the runner of the manifest's commands. A release that was deleted
 * in the meantime is no error. Every user who may write Secrets in the namespace can choose the names, so they are
 * passed as arguments, not as shell code.
 */
export const uninstallCommand = (releases: readonly string[], namespace: string): ManifestCommand => ({
  name: `uninstall ${releases.join(', ')}`,
  command: 'helm uninstall --ignore-not-found "$@"',
  args: ['--namespace', namespace, '--', ...releases],
})

/**
 * Lists the names of the PersistentVolumeClaims of StatefulSets that commands created in a namespace. The claims do not
 * carry our label: `volumeClaimTemplates` are immutable, so if our label were added to them, every later `kubectl
 * apply` or `helm upgrade` of the StatefulSet would fail.
 */
export async function listTemplateClaims(
  cluster: Cluster,
  environment: string,
  namespace: string,
  options: CallOptions = {},
): Promise<readonly string[]> {
  const labels = `${ENVIRONMENT_LABEL}=${environment}`
  const sets = (await cluster.list({ apiVersion: 'apps/v1', kind: 'StatefulSet', namespace, labels }, options)).filter(
    ({ metadata }) => metadata.annotations?.[ORIGIN_ANNOTATION] === ORIGIN_COMMAND,
  )
  const prefixes = sets.flatMap(set => {
    // Objects from the API server are valid StatefulSets.
    const { volumeClaimTemplates = [] } = (set['spec'] ?? {}) as { volumeClaimTemplates?: KubeObject[] }
    return volumeClaimTemplates.map(({ metadata }) => `${metadata.name}-${set.metadata.name}-`)
  })
  if (prefixes.length === 0) return []
  const claims = await cluster.list({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace }, options)
  const names = claims.map(({ metadata }) => metadata.name)
  return names.filter(name =>
    prefixes.some(prefix => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length))),
  )
}
