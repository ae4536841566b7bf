import { type Cluster, ClusterError } from '../../adapters/kubernetes/cluster.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { devctlHome } from '../../operations/contexts/home.ts'
import { saveContext } from '../../operations/contexts/store.ts'
import { findTarget } from '../../operations/contexts/target.ts'
import { dnsLabel } from '../../operations/project/checks.ts'
import type { Context } from '../command.ts'
import { INTERRUPTED } from '../terminal/exit-status.ts'
import { withCluster } from './cluster-session.ts'
import { usingContext, warnOfVariables } from './context.ts'

/** Sets the namespace of the current context, wherever that comes from. */
export async function useNamespace({ io, logLevel }: Context, namespace: string): Promise<number> {
  dnsLabel(namespace, 'name')
  const { context } = await findTarget(io, {})
  await saveContext(devctlHome(io), { name: context, namespace }, false)
  io.stdout.write(`${usingContext(namespace, context)}\n`)
  if (logLevel !== 'error') warnOfVariables(io, ['DEVCTL_NAMESPACE'])
  return 0
}

/** Asks the person at the terminal which namespace to use, from those that the cluster has. */
export async function chooseNamespace(context: Context): Promise<number> {
  const { io } = context
  const { choose } = io
  if (choose === undefined)
    throw new UsageError('which namespace?', { hint: 'set it with `devctl namespace use NAME`' })
  const options = { context: undefined, namespace: undefined, timeout: 10_000 }
  return withCluster(io, options, async ({ cluster, namespace: current, signal }) => {
    const names = await namespacesOf(cluster, signal)
    const answers = names.map(name => ({
      value: name,
      label: name === current ? `${name} *` : name,
      isPreset: name === current,
    }))
    const chosen = await choose('Which namespace?', answers)
    return chosen === undefined ? INTERRUPTED : useNamespace(context, chosen)
  })
}

async function namespacesOf(cluster: Cluster, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const found = await cluster.list({ apiVersion: 'v1', kind: 'Namespace' }, { signal })
    return found.map(({ metadata }) => metadata.name).sort()
  } catch (error) {
    if (!(error instanceof ClusterError) || error.failure !== 'forbidden') throw error
    throw new UserError(error.message, {
      hint: 'set it with `devctl namespace use NAME`, which does not list namespaces',
      cause: error,
    })
  }
}

const INSTEAD = {
  create: (context: string, name: string) =>
    `\`kubectl --context ${context} create namespace ${name}\` creates it, and \`devctl namespace use ${name}\` switches to it`,
  delete: (context: string, name: string) =>
    `\`devctl destroy --namespace ${name}\` deletes an environment; \`kubectl --context ${context} delete namespace ${name}\` deletes the whole namespace`,
  list: (context: string) =>
    `\`kubectl --context ${context} get namespaces\` lists them, and \`devctl namespace use NAME\` chooses one`,
}

/** Throws a UserError for a command that needs the platform, with the alternative for other clusters. */
export async function needPlatform({ io }: Context, verb: keyof typeof INSTEAD, name = 'NAME'): Promise<never> {
  const { context } = await findTarget(io, {})
  throw new UserError(
    `\`devctl namespace ${verb}\` needs the platform, which the cluster of \`${context}\` does not have`,
    {
      hint: INSTEAD[verb](context, name),
    },
  )
}
