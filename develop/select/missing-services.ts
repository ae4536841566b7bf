import { ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { suggest } from '../../compiler/diagnostics/suggest.ts'
import type { Session } from '../../project/session.ts'
import type { LocalForward } from '../ports/local-forward.ts'

/**
 * Returns messages about forwards to Services that do not exist in the namespace; none if Services cannot be listed.
 */
export async function missingServices(
  forwards: readonly LocalForward[],
  { cluster, namespace, signal }: Pick<Session, 'cluster' | 'namespace' | 'signal'>,
): Promise<readonly string[]> {
  // `db.other` is in another namespace, or outside the cluster.
  const wanted = forwards.flatMap(({ service, remotePort }) =>
    service !== undefined && !service.includes('.') ? [{ service, remotePort }] : [],
  )
  if (wanted.length === 0) return []
  try {
    const services = await cluster.list({ apiVersion: 'v1', kind: 'Service', namespace }, { signal })
    const names = services.map(({ metadata }) => metadata.name)
    return wanted
      .filter(({ service }) => !names.includes(service))
      .map(({ service, remotePort }) => {
        const near = suggest(service, names) ?? withPort(services, remotePort)
        const question = near === undefined ? '' : `; did you mean \`${near}\`?`
        return `Service \`${service}\` of \`forward\` does not exist in ${namespace}${question}`
      })
  } catch (error) {
    if (error instanceof ClusterError) return []
    throw error
  }
}

/** Returns the name of the only Service with this port; undefined if there are none or several. */
function withPort(services: readonly KubeObject[], port: number): string | undefined {
  const found = services.filter(({ spec }) => {
    const { ports = [] } = (spec ?? {}) as { readonly ports?: readonly { readonly port: number }[] } // a Service's
    return ports.some(one => one.port === port)
  })
  return found.length === 1 ? found[0]!.metadata.name : undefined
}
