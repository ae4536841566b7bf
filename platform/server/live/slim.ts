import type { KubeObject, ObjectMeta } from '../../../adapters/kubernetes/cluster.ts'
import { UP_ANNOTATION } from '../../../constructs/mirror/names.ts'

/** Characters of one object, as JSON; larger objects are ignored. */
const LARGEST = 256 * 1024
/** Annotations that are part of the state of an object. */
const ANNOTATIONS = ['deployment.kubernetes.io/revision', UP_ANNOTATION]

type Fields = Readonly<Record<string, unknown>>

/**
 * The part of an object that its state is derived from, without managed fields and foreign annotations. Undefined for
 * an object that is still too large. `size` is in characters.
 */
export function slim(object: KubeObject): { readonly object: KubeObject; readonly size: number } | undefined {
  const { apiVersion, kind } = object
  const small: KubeObject = { apiVersion, kind, metadata: slimMetadata(object.metadata), ...fieldsOf(object) }
  const size = JSON.stringify(small).length
  return size <= LARGEST ? { object: small, size } : undefined
}

function slimMetadata({ managedFields = [], annotations = {}, ...rest }: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, generation, creationTimestamp, deletionTimestamp, labels, ownerReferences } = rest
  return {
    name,
    ...present({ namespace, uid, generation, creationTimestamp, deletionTimestamp, labels, ownerReferences }),
    annotations: pick(annotations, ANNOTATIONS) as Record<string, string>, // a part of them
    managedFields: managedFields.map(({ fieldsV1: _, ...one }) => one),
  }
}

function fieldsOf(object: KubeObject): Fields {
  const { spec, status, data, binaryData } = object as { readonly [field: string]: Fields | undefined } // of any kind
  switch (object.kind) {
    case 'Event': {
      const { apiVersion: _, kind: __, metadata: ___, ...rest } = object
      return rest
    }
    case 'ConfigMap':
      return present({ data, binaryData })
    case 'ReplicaSet':
      return present({ status })
    case 'PersistentVolumeClaim':
      return present({ status })
    case 'Pod':
      return present({ spec: spec && slimPod(spec), status })
    case 'Service':
    case 'Ingress':
    case 'HTTPRoute':
      return present({ spec, status })
    default: {
      const { replicas, completions, updateStrategy, template } = spec ?? {}
      const pod = (template as { readonly spec?: Fields } | undefined)?.spec
      return present({
        spec: {
          ...present({ replicas, completions, updateStrategy }),
          ...(pod && { template: { spec: slimPod(pod) } }),
        },
        status,
      })
    }
  }
}

function slimPod(spec: Fields): Fields {
  const containers = (field: string) =>
    listOf(spec[field]).map(one => pick(one, ['name', 'image', 'readinessProbe', 'startupProbe', 'restartPolicy']))
  return {
    ...pick(spec, ['restartPolicy']),
    containers: containers('containers'),
    initContainers: containers('initContainers'),
    volumes: listOf(spec['volumes']).filter(one => one['persistentVolumeClaim'] !== undefined),
  }
}

const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value : [])

const pick = (from: Fields, keys: readonly string[]): Fields =>
  Object.fromEntries(keys.flatMap(key => (from[key] === undefined ? [] : [[key, from[key]]])))

const present = (fields: Fields): Fields => pick(fields, Object.keys(fields))
