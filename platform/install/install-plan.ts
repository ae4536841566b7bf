import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isEnding } from '../../environment/apply/removal.ts'
import { MANAGER } from '../../environment/labels.ts'
import { type ObjectDiff, valueDiffs } from '../../environment/plan/diff.ts'
import { ownDifferences } from '../../environment/plan/field-owners.ts'
import { inParallel } from '../../environment/pool.ts'
import { type InstallContext, isOfPlatform, nameOf, nameOfObject } from './install-context.ts'
import { requireClientSecrets, type WantedProviders } from './install-providers.ts'
import { requireKubernetes } from './kubernetes-version.ts'
import { type Installation, platformObjects, unwantedObjects } from './manifests/server.ts'

/** Changes that an installation would make. */
export interface InstallPlan {
  /** True if the cluster has no platform yet. */
  readonly isFirst: boolean
  /** Changes in the order in which they are applied; deletions are last. */
  readonly diffs: readonly ObjectDiff[]
  /** Number of objects that do not change. */
  readonly unchanged: number
}

/**
 * Returns the changes that an installation would make to each object of a platform, as determined by dry runs. Throws
 * if the API server rejects an object, and a UserError if the cluster is too old or a client secret is missing.
 */
export async function planInstall(
  { cluster, signal }: Pick<InstallContext, 'cluster' | 'signal'>,
  one: Installation,
  login: WantedProviders,
): Promise<InstallPlan> {
  await requireKubernetes(cluster, signal)
  await requireClientSecrets(cluster, login, signal)
  const wanted = await inParallel(platformObjects(one), async object => ({
    object,
    live: await present(cluster, object, signal),
  }))
  // Objects in a namespace that is terminating are created again.
  const ending = new Set(wanted.filter(({ live }) => live && isEnding(live)).map(({ object }) => nameOfObject(object)))
  const diffs = await inParallel(wanted, async ({ object, live }): Promise<ObjectDiff | undefined> => {
    const { namespace } = object.metadata
    const isGone = namespace !== undefined && ending.has(nameOf({ kind: 'Namespace', name: namespace }))
    return live && !isEnding(live) && !isGone
      ? change(cluster, object, live, signal)
      : { action: 'create', object: nameOfObject(object), values: [] }
  })
  const gone = await inParallel(unwantedObjects(one), async object => {
    const found = await present(cluster, object, signal)
    return found && isOfPlatform(found) && !isEnding(found) ? [nameOfObject(object)] : []
  })
  return {
    isFirst: diffs.every(diff => diff?.action === 'create'),
    diffs: [
      ...diffs.flatMap(diff => diff ?? []),
      ...gone.flat().map((object): ObjectDiff => ({ action: 'delete', object, values: [] })),
    ],
    unchanged: diffs.filter(diff => diff === undefined).length,
  }
}

async function change(
  cluster: Cluster,
  object: KubeObject,
  live: KubeObject,
  signal: AbortSignal,
): Promise<ObjectDiff | undefined> {
  const next = await cluster.apply(object, { manager: MANAGER, force: true, dryRun: true, signal })
  const differences = ownDifferences(object, live, next)
  if (differences.length === 0) return undefined
  return { action: 'update', object: nameOfObject(object), values: valueDiffs(differences, live) }
}

const present = (
  cluster: Cluster,
  { apiVersion, kind, metadata: { name, namespace } }: KubeObject,
  signal: AbortSignal,
): Promise<KubeObject | undefined> => cluster.get({ apiVersion, kind, name, namespace }, { signal })
