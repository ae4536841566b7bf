import type { Cluster } from '../cluster/cluster.ts'

/** Lists the objects of the whole cluster, of all kinds except those that come and go by themselves. */
export async function everything(cluster: Cluster): Promise<ReadonlySet<string>> {
  const kinds = await cluster.kubectl('api-resources', '--verbs=list', '--output=name')
  const all = kinds
    .trim()
    .split('\n')
    .filter(kind => !/^(events|leases|endpointslices|endpoints|pods|replicasets)\b/.test(kind))
  const template = '{range .items[*]}{.kind}.{.apiVersion} {.metadata.namespace}/{.metadata.name}{"\\n"}{end}'
  const text = await cluster.kubectl(
    'get',
    all.join(','),
    '--all-namespaces',
    '--ignore-not-found',
    `--output=jsonpath=${template}`,
  )
  return new Set(text.split('\n').filter(line => line !== ''))
}
