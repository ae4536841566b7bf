import { printable } from '../../compiler/values/printable.ts'
import type { Io } from '../terminal/io.ts'

/** Time to wait for the answer of a cluster, which may be out of reach, in milliseconds. */
const WAIT = 3000

/**
 * Warns if a namespace does not exist in the cluster of a context. Prints nothing if the cluster does not answer soon
 * or refuses the request, because the user may need the context only later.
 */
export async function warnOfMissingNamespace(io: Io, context: string, namespace: string): Promise<void> {
  const signal = AbortSignal.timeout(WAIT)
  const isMissing = await askFor(io, context, namespace, signal).catch(() => false)
  if (!isMissing) return
  const shown = printable(namespace)
  io.stderr.write(
    `warning: namespace \`${shown}\` does not exist in \`${printable(context)}\`\n  = help: \`devctl deploy --create-namespace\` creates it; if it is a typo, run \`devctl context use\` again\n`,
  )
}

/** Returns true if the cluster answers that the namespace does not exist. Throws if it does not answer. */
async function askFor({ env }: Io, context: string, name: string, signal: AbortSignal): Promise<boolean> {
  const [{ kubeconfigAccess }, { toCluster }] = await Promise.all([
    import('../../adapters/kubernetes/connection.ts'),
    import('../../adapters/kubernetes/kube-cluster.ts'),
  ])
  const cluster = toCluster(await kubeconfigAccess(context, env, signal, { isSilent: true }))
  return (await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name }, { signal })) === undefined
}
