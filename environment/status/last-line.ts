import type { Cluster } from '../../adapters/kubernetes/cluster.ts'

/**
 * Returns the last line that a container has written, limited to `longest` characters; empty if the container has
 * written nothing. Throws a ClusterError.
 */
export async function lastLine(
  cluster: Pick<Cluster, 'logs'>,
  pod: { readonly name: string; readonly namespace: string },
  options: { readonly container: string; readonly longest: number; readonly signal?: AbortSignal },
): Promise<string> {
  const { longest, ...rest } = options
  let line = ''
  // A line longer than the cluster's limit comes in pieces.
  for await (const piece of cluster.logs(pod, { ...rest, tailLines: 1 }))
    if (line.length + piece.length <= longest) line += piece
  return line
}
