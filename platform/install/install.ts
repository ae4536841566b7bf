import { pause } from '../../adapters/http/back-off.ts'
import { type Cluster, ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { readableDuration } from '../../compiler/values/numbers/readable-duration.ts'
import { MANAGER } from '../../environment/labels.ts'
import { newestPods } from '../../environment/rollout/revisions.ts'
import { statusOf } from '../../environment/rollout/status.ts'
import { toWarning } from '../../environment/status/events.ts'
import { logNotes } from '../../environment/status/explain.ts'
import { podProblems } from '../../environment/status/problems.ts'
import { PLATFORM_NAMESPACE } from '../records/names.ts'
import { dropOtherCertificates, endCertManager } from './certificates/other-certificates.ts'
import {
  type InstallContext,
  isOfPlatform,
  LOOK,
  nameOf,
  nameOfObject,
  ownRef,
  SERVER_PODS,
} from './install-context.ts'
import type { InstallPlan } from './install-plan.ts'
import { requireClientSecrets, type WantedProviders } from './install-providers.ts'
import { keepSecrets } from './install-secrets.ts'
import { requireKubernetes } from './kubernetes-version.ts'
import { type Installation, platformObjects, unwantedObjects } from './manifests/server.ts'
import { setupToken } from './people.ts'
import { endingNamespaces, untilGone } from './uninstall.ts'

/**
 * Installs or updates the platform, reports each change of the plan when it is made, and waits until the server is
 * available. Returns a token for the first administrator if there is none yet. Throws a UserError with the problems of
 * the Pods if the server does not start.
 */
export async function installPlatform(
  world: InstallContext,
  one: Installation,
  login: WantedProviders,
  plan: Pick<InstallPlan, 'diffs'>,
): Promise<FirstLogin> {
  const { cluster, signal, on } = world
  await untilGone(world, await endingNamespaces(world, platformObjects(one)))
  const deleted = (names: readonly string[]) => {
    for (const name of names) on(`${name} deleted`)
  }
  const planned = new Map(plan.diffs.map(({ object, action }) => [object, action]))
  let fingerprint: string | undefined
  for (const object of platformObjects(one)) {
    // The namespace has been created at this point, and the Pods that mount the Secrets have not.
    if (object.kind === 'Deployment') {
      deleted(await endCertManager(cluster, one, signal))
      fingerprint = await keepSecrets(world, one, login)
    }
    await applyOne(cluster, object, signal)
    const name = nameOfObject(object)
    if (planned.has(name)) on(`${name} ${planned.get(name) === 'create' ? 'created' : 'updated'}`)
  }
  for (const { apiVersion, kind, metadata } of unwantedObjects(one)) {
    const ref = { apiVersion, kind, name: metadata.name, namespace: metadata.namespace }
    const isOurs = isOfPlatform(await cluster.get(ref, { signal }))
    if (isOurs && (await cluster.delete(ref, { signal }))) deleted([nameOf(ref)])
  }
  deleted(await dropOtherCertificates(cluster, one, signal))
  on('waits for the server')
  await untilAvailable(world)
  return { fingerprint, token: await setupToken(world) }
}

/** Credentials for the first administrator. `token` is undefined if an administrator already exists. */
export interface FirstLogin {
  readonly token: string | undefined
  /** Fingerprint (SHA-256) of the platform's own certificate authority; undefined if it has none. */
  readonly fingerprint: string | undefined
}

/**
 * Creates the Secrets that `platformObjects` does not return, and their namespaces, for operators who apply the other
 * objects with another tool.
 */
export async function installSecrets(
  world: InstallContext,
  one: Installation,
  login: WantedProviders,
): Promise<FirstLogin> {
  await requireKubernetes(world.cluster, world.signal)
  await requireClientSecrets(world.cluster, login, world.signal)
  await untilGone(world, await endingNamespaces(world, platformObjects(one)))
  for (const object of platformObjects(one))
    if (object.kind === 'Namespace') await applyOne(world.cluster, object, world.signal)
  return { fingerprint: await keepSecrets(world, one, login), token: await setupToken(world) }
}

/**
 * Applies an object. Retries for about two seconds if its namespace is not found, because the API server may not know a
 * namespace right after its creation. Throws a UserError for a Certificate if the cluster has no cert-manager.
 */
async function applyOne(cluster: Cluster, object: KubeObject, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await cluster.apply(object, { manager: MANAGER, force: true, signal })
      return
    } catch (error) {
      if (!(error instanceof ClusterError) || error.failure !== 'not-found') throw error
      if (object.kind === 'Certificate')
        throw new UserError('the cluster has no cert-manager', {
          hint: 'install it, or name the Secret of a certificate that you have: `--tls-secret NAME`',
          cause: error,
        })
      if (attempt >= 10) throw error
    }
    await pause(200, signal)
  }
}

async function untilAvailable({
  cluster,
  signal,
  now,
  toleratesFailures,
  patience = Number.POSITIVE_INFINITY,
}: InstallContext): Promise<void> {
  const ref = ownRef('apps/v1', 'Deployment')
  const end = now() + patience
  for (;;) {
    if (now() > end)
      throw new UserError(`the server is not ready within ${readableDuration(patience)}`, {
        hint: `\`kubectl --namespace ${PLATFORM_NAMESPACE} describe pods\` shows what it waits for; wait longer with \`--timeout\``,
      })
    const live = await cluster.get(ref, { signal })
    if (live && statusOf(live).state === 'ready') return
    const query = { namespace: PLATFORM_NAMESPACE, labels: SERVER_PODS }
    const [sets, all] = await Promise.all([
      cluster.list({ apiVersion: 'apps/v1', kind: 'ReplicaSet', ...query }, { signal }),
      cluster.list({ apiVersion: 'v1', kind: 'Pod', ...query }, { signal }),
    ])
    // Ignores the Pods of an earlier installation: they may fail because of a problem that this one fixes.
    for (const pod of live ? newestPods(live, sets, all) : []) {
      const fields = `involvedObject.uid=${pod.metadata.uid},type=Warning`
      const events = await cluster.list(
        { apiVersion: 'v1', kind: 'Event', namespace: PLATFORM_NAMESPACE, fields },
        { signal },
      )
      const problem = podProblems(pod, events.map(toWarning), now()).find(one => !one.isPassing)
      if (!problem || problem.code === 'unhealthy' || toleratesFailures) continue
      const { code, where, container } = problem
      const ends = code === 'crash-loop'
      const log = ends ? await logNotes(cluster, PLATFORM_NAMESPACE, pod, container, true) : []
      const why = ends ? 'its server ends again and again' : problem.detail || code
      throw new UserError(`the platform does not start: ${why}`, {
        notes: [where, ...log],
        hint:
          code === 'image-pull'
            ? 'push the images there (`devctl platform images --push HOST/PATH`), or name another registry: `--image-registry HOST/PATH`'
            : `\`kubectl --namespace ${PLATFORM_NAMESPACE} describe ${where}\` shows more`,
      })
    }
    await pause(LOOK, signal)
  }
}
