import { ENVIRONMENT_LABEL, HOME_LABEL, ORIGIN_ANNOTATION, ORIGIN_COMMAND } from './labels.ts'

/** Environment that owns the labelled objects. */
export interface LabelOwner {
  readonly environment: string
  /** Namespace of the environment. */
  readonly namespace: string
}

export type ObjectLabels = Readonly<Record<string, string>>

/** JSON object with unknown fields. */
export type JsonFields = Readonly<Record<string, unknown>>

/**
 * Path of the Pod template within an object, by resource. PodTemplates are not listed: they have a template, too, but
 * start no Pods.
 */
const TEMPLATES: Readonly<Record<string, readonly string[]>> = {
  'apps deployments': ['spec', 'template'],
  'apps statefulsets': ['spec', 'template'],
  'apps daemonsets': ['spec', 'template'],
  'apps replicasets': ['spec', 'template'],
  'batch jobs': ['spec', 'template'],
  'batch cronjobs': ['spec', 'jobTemplate', 'spec', 'template'],
  ' replicationcontrollers': ['spec', 'template'],
}

/**
 * Returns the path of the Pod template in the objects of a resource; undefined if such objects have no Pod template.
 */
export function templatePath(apiVersion: string, resource: string): readonly string[] | undefined {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
  return TEMPLATES[`${group} ${resource}`]
}

/** Returns the labels for an object in the namespace `of`, or for a cluster-scoped object if `of` is undefined. */
export function ownerLabels({ environment, namespace }: LabelOwner, of: string | undefined): ObjectLabels {
  return { [ENVIRONMENT_LABEL]: environment, ...(of !== namespace && { [HOME_LABEL]: namespace }) }
}

export const originAnnotations: ObjectLabels = { [ORIGIN_ANNOTATION]: ORIGIN_COMMAND }

/**
 * Adds the labels and the origin annotation to an object. If the object has a Pod template at the path, adds the
 * environment's label to it. Selectors stay unchanged.
 */
export function labelObject(
  object: JsonFields,
  labels: ObjectLabels,
  template: readonly string[] | undefined,
): JsonFields {
  const marked = withMetadata(object, labels, originAnnotations)
  if (template === undefined) return marked
  // A ReplicationController without a selector selects by the labels of its template, which must not change.
  if (marked['kind'] === 'ReplicationController' && !isFields(at(marked, ['spec', 'selector']))) return marked
  return change(marked, template, found =>
    withMetadata(found, { [ENVIRONMENT_LABEL]: labels[ENVIRONMENT_LABEL]! }, undefined),
  )
}

/** Returns the labels of an object, or of the part at a path within it. */
export function labelsOf(object: JsonFields, path: readonly string[] = []): ObjectLabels {
  const found = at(object, [...path, 'metadata', 'labels'])
  // A value that is not a string is no label; the server rejects it.
  return isFields(found) ? (found as ObjectLabels) : {}
}

/**
 * Returns the environment that owns an object, according to the labels of the object. `namespace` is the namespace of
 * the object; the environment is in this namespace unless a label names another. Undefined if the object belongs to no
 * environment.
 */
export function ownerOf(labels: ObjectLabels, namespace: string | undefined): Partial<LabelOwner> | undefined {
  const environment = labels[ENVIRONMENT_LABEL]
  if (!environment) return undefined
  const home = labels[HOME_LABEL] ?? namespace
  return { environment, ...(home !== undefined && { namespace: home }) }
}

/**
 * Returns a patch in which `labels: null` and `annotations: null` are spelled out as one null for each key of the live
 * object. The short form removes all entries, so our labels could not be added next to it. `path` selects an object
 * within the patch, such as a Pod template.
 */
export function spellOut(patch: JsonFields, live: JsonFields, path: readonly string[] = []): JsonFields {
  return change(patch, [...path, 'metadata'], metadata => {
    const spelled = ['labels', 'annotations'].flatMap(key => {
      const names = at(live, [...path, 'metadata', key])
      return metadata[key] === null
        ? [[key, Object.fromEntries(Object.keys(names ?? {}).map(name => [name, null]))]]
        : []
    })
    return { ...metadata, ...Object.fromEntries(spelled) }
  })
}

function withMetadata(object: JsonFields, labels: ObjectLabels, annotations: ObjectLabels | undefined): JsonFields {
  const metadata = isFields(object['metadata']) ? object['metadata'] : {}
  return {
    ...object,
    metadata: {
      ...metadata,
      labels: { ...fieldsAt(metadata, 'labels'), ...labels },
      ...(annotations && { annotations: { ...fieldsAt(metadata, 'annotations'), ...annotations } }),
    },
  }
}

/** Applies a change to the part of an object at a path. Returns the object unchanged if nothing exists at the path. */
function change(
  object: JsonFields,
  [first, ...rest]: readonly string[],
  edit: (found: JsonFields) => JsonFields,
): JsonFields {
  if (first === undefined) return edit(object)
  const inner = object[first]
  return isFields(inner) ? { ...object, [first]: change(inner, rest, edit) } : object
}

function at(object: JsonFields, path: readonly string[]): unknown {
  return path.reduce<unknown>((found, key) => (isFields(found) ? found[key] : undefined), object)
}

const fieldsAt = (object: JsonFields, key: string): JsonFields => (isFields(object[key]) ? object[key] : {})

export function isFields(value: unknown): value is JsonFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
