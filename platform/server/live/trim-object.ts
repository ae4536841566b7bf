import type { KubeObject, ObjectMeta } from '../../../adapters/kubernetes/cluster.ts'
import { UP_ANNOTATION } from '../../../constructs/mirror/names.ts'

/** Maximum size of one object as JSON, in characters. Larger objects are ignored. */
const LARGEST = 256 * 1024
/** Annotations that the state of an object depends on. */
const ANNOTATIONS = ['deployment.kubernetes.io/revision', UP_ANNOTATION]

/** Keys of the deploy record that are kept. */
const RECORDED = ['repository', 'file', 'by', 'at', 'application']
const RECORDED_BINARY = ['history']
/** Number of characters added to the size of each value, because many short values need more memory than their text. */
const OF_VALUE = 16

type Fields = Readonly<Record<string, unknown>>

/**
 * Returns the part of an object that its state is derived from, without the contents of managed fields and without
 * unrelated annotations; undefined if this part is still too large. `size` is computed by `sizeOf`.
 */
export function trimObject(object: KubeObject): { readonly object: KubeObject; readonly size: number } | undefined {
  const { apiVersion, kind } = object
  const small: KubeObject = { apiVersion, kind, metadata: slimMetadata(object.metadata), ...fieldsOf(object) }
  return JSON.stringify(small).length <= LARGEST ? { object: small, size: sizeOf(small) } : undefined
}

/** Returns the size of a value: the length of its JSON in characters, plus a fixed amount for each nested value. */
export const sizeOf = (value: unknown): number => JSON.stringify(value).length + OF_VALUE * valuesIn(value)

const valuesIn = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value as Fields).reduce<number>((sum, one) => sum + valuesIn(one), 1)
    : 1

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
      return { data: pick(data ?? {}, RECORDED), binaryData: pick(binaryData ?? {}, RECORDED_BINARY) }
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
      const { replicas, completions, updateStrategy, schedule, timeZone, suspend, template } = spec ?? {}
      const pod = (template as { readonly spec?: Fields } | undefined)?.spec
      return present({
        spec: {
          ...present({ replicas, completions, updateStrategy, schedule, timeZone, suspend }),
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
