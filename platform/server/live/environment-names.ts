import type { Cluster } from '../../../adapters/kubernetes/cluster.ts'
import { ENVIRONMENT_LABEL } from '../../../environment/labels.ts'
import { readApplication } from '../../../environment/record/deployed-application.ts'
import { recordName, toRecord } from '../../../environment/record/record.ts'
import { listMemberObjects } from '../http/member-objects.ts'

/** Label selector of deploy records. It excludes the ConfigMaps of applications, which have a `part-of` label. */
const RECORDS = `${ENVIRONMENT_LABEL},!app.kubernetes.io/part-of`
/** Limits for one namespace, because its members can create any number of ConfigMaps. */
const MOST = { objects: 300, environments: 50, services: 200 }
/** Pattern of names that can be part of a page's URL. */
const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** An environment and its services, as the last deploy recorded them. */
export interface EnvironmentNames {
  readonly name: string
  readonly services: readonly string[]
}

/**
 * Returns the names of the environments in a namespace and of their services, in alphabetical order. Throws a
 * ClusterError if the caller may not read them.
 */
export async function environmentNames(
  cluster: Cluster,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly EnvironmentNames[]> {
  const found: EnvironmentNames[] = []
  let seen = 0
  const query = { apiVersion: 'v1', kind: 'ConfigMap', namespace, labels: RECORDS }
  for await (const object of listMemberObjects(cluster, query, signal)) {
    if (seen++ >= MOST.objects || found.length >= MOST.environments) break
    const name = object.metadata.labels?.[ENVIRONMENT_LABEL] ?? ''
    if (!NAME.test(name) || object.metadata.name !== recordName(name)) continue
    const services = readApplication(toRecord(object).application)?.services ?? []
    const names = new Set(services.map(({ service }) => service).filter(one => NAME.test(one)))
    found.push({ name, services: [...names].sort().slice(0, MOST.services) })
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}
