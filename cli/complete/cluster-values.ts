import type { ReplyOf, RouteName } from '../../platform/api/routes.ts'
import type { CallInput } from '../../platform/client/client.ts'
import { isPlatform } from '../../project/contexts/store.ts'
import { findTarget, type Target, type TargetOptions } from '../../project/contexts/target.ts'
import type { Io } from '../terminal/io.ts'
import type { Suggestion } from './completion.ts'

/**
 * Input for listing names from a cluster: the settings that select the cluster, and a signal that ends the requests.
 */
export interface ClusterQuestion {
  readonly io: Io
  /** Target options that the line contains. */
  readonly typed: TargetOptions
  /**
   * Target options that the line contains, and the context and namespace of the environment that `--environment`
   * selects.
   */
  readonly options: TargetOptions
  readonly manifest: TargetOptions
  readonly signal: AbortSignal
}

/** Returns the namespaces of the cluster. On a platform, returns the namespaces that the user is allowed to see. */
export async function namespaceNames(question: ClusterQuestion): Promise<readonly Suggestion[]> {
  const where = await whereFor(question)
  if (isPlatform(where.target.context)) {
    const { items } = await call(where, 'GET /namespaces', {})
    return items.map(({ name }) => ({ value: name }))
  }
  return (await list(where, { kind: 'Namespace' })).map(({ metadata }) => ({ value: metadata.name }))
}

/** Returns the names of the environments that are deployed in the namespace. */
export async function deployedNames(question: ClusterQuestion): Promise<readonly Suggestion[]> {
  const where = await whereFor(question)
  const { namespace } = where.target
  if (isPlatform(where.target.context)) {
    const { items } = await call(where, 'GET /namespaces/:ns/environments', { params: { ns: namespace } })
    return items.map(({ name }) => ({ value: name }))
  }
  const { ENVIRONMENT_LABEL } = await import('../../environment/labels.ts')
  const { recordName } = await import('../../environment/record/record.ts')
  const maps = await list(where, { kind: 'ConfigMap', namespace, labels: ENVIRONMENT_LABEL })
  const names = maps.flatMap(({ metadata }) => {
    const name = metadata.labels?.[ENVIRONMENT_LABEL]
    return name !== undefined && metadata.name === recordName(name) ? [name] : []
  })
  return names.map(value => ({ value }))
}

/** Returns the names of the environments in the namespace that have runs on the platform. */
export async function pipelineNames(question: ClusterQuestion): Promise<readonly Suggestion[]> {
  const where = await whereFor(question)
  if (!isPlatform(where.target.context)) return []
  const { items } = await call(where, 'GET /runs', { query: { namespace: where.target.namespace } })
  return [...new Set(items.map(({ environment }) => environment))].map(value => ({ value }))
}

/** Returns the previews that the user is allowed to see. */
export async function previewNames(question: ClusterQuestion): Promise<readonly Suggestion[]> {
  const where = await whereFor(question)
  if (!isPlatform(where.target.context)) return []
  const { items } = await call(where, 'GET /previews', { query: {} })
  return items.map(({ name, branch }) => ({ value: name, ...(branch !== undefined && { description: branch }) }))
}

interface Where {
  readonly io: Io
  readonly target: Target
  readonly signal: AbortSignal
}

/**
 * Returns the target of the command. Throws an error if the context comes only from the manifest: connecting to a
 * cluster runs a credential plugin, so the files of a checkout must not decide to which cluster a press of Tab
 * connects.
 */
async function whereFor({ io, typed, options, manifest, signal }: ClusterQuestion): Promise<Where> {
  const { withHome } = await import('../../platform/session/target-with-home.ts')
  // Without `onPlatform`, since completing a line is not counted as a use of the platform.
  const around = { cwd: io.cwd, env: io.env }
  const target = await findTarget(around, options, manifest)
  const own = await findTarget(around, typed)
  if (own.context !== target.context) throw new Error(`only the manifest names the context ${target.context}`)
  return { io, target: await withHome(around, target, signal), signal }
}

async function call<N extends RouteName>(
  { io, target, signal }: Where,
  name: N,
  input: CallInput<N>,
): Promise<ReplyOf<N>> {
  const { connectPlatform } = await import('../../platform/session/connect-platform.ts')
  return connectPlatform(target.context, target.stored.token, io.env).call(name, input, signal)
}

interface ObjectsQuestion {
  readonly kind: 'Namespace' | 'ConfigMap'
  readonly namespace?: string
  readonly labels?: string
}

async function list({ io, target, signal }: Where, question: ObjectsQuestion) {
  const [{ kubeconfigAccess }, { toCluster }] = await Promise.all([
    import('../../adapters/kubernetes/connection.ts'),
    import('../../adapters/kubernetes/kube-cluster.ts'),
  ])
  const cluster = toCluster(await kubeconfigAccess(target.context, io.env, signal, { isSilent: true }))
  const query = { apiVersion: 'v1', ...question }
  // One page: nobody chooses from more.
  for await (const objects of cluster.pages(query, { signal, metadataOnly: true })) return objects
  return []
}
