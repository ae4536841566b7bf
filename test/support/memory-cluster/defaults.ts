import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { isRecord, type Record_ } from './fields.ts'

/**
 * Returns the object with the fields that the API server adds to new and changed objects, as far as devctl reads them.
 * A real server adds many more.
 */
export function withDefaults(object: KubeObject, address: () => string): KubeObject {
  const spec = isRecord(object['spec']) ? object['spec'] : undefined
  switch (object.kind) {
    case 'Secret': {
      const { stringData, ...rest } = object
      if (!isRecord(stringData)) return { type: 'Opaque', ...object }
      const encoded = Object.entries(stringData).map(([key, text]) => [
        key,
        Buffer.from(String(text)).toString('base64'),
      ])
      const data = { ...(rest['data'] as Record_ | undefined), ...Object.fromEntries(encoded) } // a map of texts
      return { type: 'Opaque', ...(rest as KubeObject), data } // without stringData it is a Secret as before
    }
    case 'Service':
      return { ...object, spec: { type: 'ClusterIP', clusterIP: spec?.['clusterIP'] ?? address(), ...spec } }
    case 'Deployment':
    case 'StatefulSet':
    case 'ReplicaSet':
      return { ...object, spec: { replicas: 1, ...spec } }
    case 'Namespace':
      return { ...object, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }
    default:
      return object
  }
}
