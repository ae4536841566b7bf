import { ENVIRONMENT_LABEL, HOME_LABEL, ORIGIN_ANNOTATION, ORIGIN_COMMAND } from '../labels.ts'

/** Environment that labels assign objects to. */
export interface LabelOwner {
  readonly environment: string
  /** The environment's namespace. */
  readonly namespace: string
}

export type ObjectLabels = Readonly<Record<string, string>>

/** A JSON object whose fields we do not know. */
export type JsonFields = Readonly<Record<string, unknown>>

/** Path of the Pod template by resource. A PodTemplate has one, too, but starts nothing. */
const TEMPLATES: Readonly<Record<string, readonly string[]>> = {
  'apps deployments': ['spec', 'template'],
  'apps statefulsets': ['spec', 'template'],
  'apps daemonsets': ['spec', 'template'],
  'apps replicasets': ['spec', 'template'],
  'batch jobs': ['spec', 'template'],
  'batch cronjobs': ['spec', 'jobTemplate', 'spec', 'template'],
  ' replicationcontrollers': ['spec', 'template'],
}

/** The way from an object to its Pod template; undefined for what has none. */
export function templatePath(apiVersion: string, resource: string): readonly string[] | undefined {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
  return TEMPLATES[`${group} ${resource}`]
}

/** The labels of an object of this namespace (undefined: of the cluster). */
export function ownerLabels({ environment, namespace }: LabelOwner, of: string | undefined): ObjectLabels {
  return { [ENVIRONMENT_LABEL]: environment, ...(of !== namespace && { [HOME_LABEL]: namespace }) }
}

export const originAnnotations: ObjectLabels = { [ORIGIN_ANNOTATION]: ORIGIN_COMMAND }

/**
 * The object with labels and annotation on it, and the environment's label on its Pod template when
 * it has one at that path. Selectors stay as they are.
 */
export function labelObject(
  object: JsonFields,
  labels: ObjectLabels,
  template: readonly string[] | undefined,
): JsonFields {
  const marked = withMetadata(object, labels, originAnnotations)
  if (template === undefined) return marked
  // Without a selector a ReplicationController selects what its template says: that must not change
  // with us.
  if (marked['kind'] === 'ReplicationController' && !isFields(at(marked, ['spec', 'selector']))) return marked
  return change(marked, template, found =>
    withMetadata(found, { [ENVIRONMENT_LABEL]: labels[ENVIRONMENT_LABEL]! }, undefined),
  )
}

/** The labels of an object, or of what is at a path within it. */
export function labelsOf(object: JsonFields, path: readonly string[] = []): ObjectLabels {
  const found = at(object, [...path, 'metadata', 'labels'])
  // A value that is not a string is not a label; the server will reject it.
  return isFields(found) ? (found as ObjectLabels) : {}
}

/**
 * The environment that an object is labelled as, with its namespace where that says it; undefined
 * for one that is in none.
 */
export function ownerOf(labels: ObjectLabels, namespace: string | undefined): Partial<LabelOwner> | undefined {
  const environment = labels[ENVIRONMENT_LABEL]
  if (!environment) return undefined
  const home = labels[HOME_LABEL] ?? namespace
  return { environment, ...(home !== undefined && { namespace: home }) }
}

/**
 * Returns a patch in which `labels: null` and `annotations: null`, which remove all of them, are replaced by one null
 * for each live key, so that our labels can be added. `path` selects an object within the patch, such as a Pod
 * template.
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

/** The object with what is at the path changed; as it was when there is nothing. */
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
