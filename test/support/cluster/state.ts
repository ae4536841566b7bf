import { ANSWER_MS } from '../deadlines.ts'
import type { Cluster } from './cluster.ts'

/**
 * Returns the contents of the namespace of the environment and of devctl's own objects, with everything that a file
 * could set; the results for two namespaces can be compared.
 */
export async function stateOf(
  cluster: Cluster,
  namespace: string,
  environment = namespace,
): Promise<readonly string[]> {
  const kinds = 'deploy,sts,ds,job,svc,ing,cm,secret,pvc,netpol,sa,role,rolebinding,lease'
  const deadline = Date.now() + ANSWER_MS
  for (;;) {
    const { items } = JSON.parse(await cluster.kubectl('--namespace', namespace, 'get', kinds, '--output=json'))
    // Objects that are being deleted count as deleted: wait for them until the deadline.
    const isEnding = items.some((item: Item) => item.metadata.deletionTimestamp !== undefined)
    if (!isEnding || Date.now() > deadline)
      return (items as Item[])
        .filter(({ metadata }) => !/^kube-root-ca|^default$/.test(metadata.name))
        .map(({ kind, metadata, spec, data }) => {
          // Addresses and UIDs are given anew, keys drawn anew, and the record has the time.
          const { clusterIP: _, clusterIPs: __, volumeName: ___, ...rest } = spec ?? {}
          const own = metadata.name === `devctl-${environment}`
          const text = JSON.stringify([rest, own ? Object.keys(data ?? {}) : data])
          return `${kind}/${metadata.name} ${text.replace(/"dev\.platform\/secrets":"\w+"/g, '')}`
            .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'UID')
            .replaceAll(namespace, 'NAME')
        })
        .sort()
    await new Promise(resolve => setTimeout(resolve, 200))
  }
}

interface Item {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string }
  readonly spec?: Readonly<Record<string, unknown>>
  readonly data?: Readonly<Record<string, unknown>>
}
