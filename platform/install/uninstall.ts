import { pause } from '../../adapters/http/back-off.ts'
import type { Cluster, KubeObject, ObjectRef } from '../../adapters/kubernetes/cluster.ts'
import { endingNamespace } from '../../environment/plan/namespace.ts'
import { BUILD_NAMESPACE, MANAGED_LABEL, PLATFORM_NAMESPACE, USERS_NAMESPACE } from '../records/names.ts'
import { type InstallContext, isOfPlatform, LOOK, nameOf, ownRef, SERVER_PODS } from './install-context.ts'
import { SETTINGS } from './installed.ts'
import { EVERYTHING, platformObjects } from './manifests/server.ts'

/** Maximum wait for the Pods of the deleted server, in milliseconds. Those on a lost node stay for ever. */
const LAST_PODS = 60_000

/**
 * Deletes the platform and, unless `keepsData`, also the namespaces and records that it has created for users. The data
 * are useless without the keys that encrypt them, so `keepsData` also keeps these keys and the settings. Waits until
 * the namespaces are deleted. Returns the names of the deleted objects.
 */
export async function uninstallPlatform(world: InstallContext, keepsData: boolean): Promise<readonly string[]> {
  const { cluster, signal, on } = world
  const objects = platformObjects({
    ...EVERYTHING,
    version: '',
    domain: '',
    image: '',
    runnerImage: '',
    replicas: 0,
    kubernetes: { server: '' },
  })
  const isKept = ({ kind, metadata }: KubeObject) =>
    keepsData &&
    (metadata.namespace === USERS_NAMESPACE ||
      (kind === 'ConfigMap' && metadata.name === SETTINGS && metadata.namespace === PLATFORM_NAMESPACE) ||
      (kind === 'Namespace' && [USERS_NAMESPACE, PLATFORM_NAMESPACE].includes(metadata.name)))
  const gone: string[] = []
  const remove = async (ref: ObjectRef): Promise<boolean> => {
    if (!(await cluster.delete(ref, { signal }))) return false
    gone.push(nameOf(ref))
    on(`${gone.at(-1)} deleted`)
    return true
  }
  // A running server creates namespaces for logins, jobs and webhooks.
  if (await remove(ownRef('apps/v1', 'Deployment'))) await untilServerGone(world)
  const managed = keepsData ? [] : await managedNamespaces(cluster, signal)
  for (const name of managed) await remove({ apiVersion: 'v1', kind: 'Namespace', name })
  // The admission policies and the rights of members apply as long as programs run in the namespaces.
  await untilGone(world, managed)
  const namespaces: string[] = []
  for (const object of [...objects].reverse()) {
    const { apiVersion, kind, metadata } = object
    if (isKept(object)) continue
    const ref = { apiVersion, kind, name: metadata.name, namespace: metadata.namespace }
    if (metadata.name === BUILD_NAMESPACE && !isOfPlatform(await cluster.get(ref, { signal }))) continue
    if ((await remove(ref)) && kind === 'Namespace') namespaces.push(metadata.name)
  }
  await untilGone(world, namespaces)
  return gone
}

/** Waits until the Pods of the deleted server have ended. */
async function untilServerGone({ cluster, signal, now }: InstallContext): Promise<void> {
  const until = now() + LAST_PODS
  const pods = { apiVersion: 'v1', kind: 'Pod', namespace: PLATFORM_NAMESPACE, labels: SERVER_PODS }
  while ((await cluster.list(pods, { signal })).length > 0 && now() < until) await pause(LOOK, signal)
}

/** Returns the namespaces among the objects that an earlier `uninstall` has deleted and that are still terminating. */
export async function endingNamespaces(
  { cluster, signal }: InstallContext,
  objects: readonly KubeObject[],
): Promise<readonly string[]> {
  const names = objects.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name)
  const ending = await Promise.all(names.map(name => endingNamespace(cluster, name, { signal })))
  return names.filter((_name, at) => ending[at] !== undefined)
}

/**
 * Waits until namespaces are deleted: until then, no object can be created in them, and their names cannot be reused.
 */
export async function untilGone({ cluster, signal, on }: InstallContext, names: readonly string[]): Promise<void> {
  if (names.length > 0)
    on(`waits until ${names.map(name => `namespace/${name}`).join(', ')} ${names.length === 1 ? 'is' : 'are'} gone`)
  for (const name of names) while (await endingNamespace(cluster, name, { signal })) await pause(LOOK, signal)
}

/** Returns the namespaces that the platform has created. */
export async function managedNamespaces(cluster: Cluster, signal: AbortSignal): Promise<readonly string[]> {
  const labels = `${MANAGED_LABEL}=true`
  const found = await cluster.list({ apiVersion: 'v1', kind: 'Namespace', labels }, { signal })
  return found.map(({ metadata }) => metadata.name).sort()
}
