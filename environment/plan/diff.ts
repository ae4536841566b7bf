import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { KnownSecrets } from '../../compiler/values/secrets/known-secrets.ts'
import { isVariableWithSecret } from '../../compiler/values/secrets/secret-names.ts'
import { isRoute } from '../../constructs/kinds.ts'
import type { Step } from '../apply/steps.ts'
import { SECRETS_ANNOTATION } from '../labels.ts'
import { isDeclaredElsewhere } from './adoption.ts'
import { type Changes, isCreatedByCommand } from './changes.ts'
import { type Difference, type FieldKey, isMap, pathText } from './comparison.ts'
import { nameOf } from './desired-state.ts'
import { type Owner, ownerOf } from './field-owners.ts'
import { type HiddenDifference, withoutKnown } from './hidden-differences.ts'

/** Change that a deploy would make to an object. */
export interface ObjectDiff {
  readonly action: 'create' | 'update' | 'replace' | 'delete' | 'keep'
  /** Name such as `deployment/web`. */
  readonly object: string
  /** Source such as `compose.yaml#services.web`; absent if the object is no longer in any file. */
  readonly source?: string
  readonly values: readonly ValueDiff[]
  /** Effect of the change, as text for users. */
  readonly consequence?: string
}

/** Value that would change. Secret values are masked. */
export interface ValueDiff {
  readonly path: string
  readonly keys: readonly FieldKey[]
  /** Current value; absent if it does not exist. */
  readonly before?: unknown
  readonly after?: unknown
  /** Text to show in place of both values; absent if the values may be shown. */
  readonly masked?: string
  /** Field manager that set the current value, if it is not devctl. */
  readonly by?: Owner
}

/**
 * Returns the changes that a deploy would make, object by object: first the wanted objects in their order, then the
 * objects to delete, then the objects that stay although they are no longer wanted. With `isPast`, the texts describe
 * changes that were made.
 */
export function diffOf(
  changes: Changes,
  secrets: Pick<KnownSecrets, 'maskValue'> = new KnownSecrets(),
  isPast = false,
): readonly ObjectDiff[] {
  const { steps, pruneFirst, prune, kept } = changes
  const reasonOf = deletionReasons(changes)
  const inTense = (reason: string) => (isPast || reason === REPLACED ? reason : `${reason}; will be deleted`)
  return [
    ...[...steps.values()].flatMap(step => stepDiff(step, secrets)),
    ...[...pruneFirst, ...prune].map(
      (object): ObjectDiff => ({
        action: 'delete',
        object: nameOf(object),
        values: [],
        consequence: pruneFirst.includes(object)
          ? 'deleted before its successor is created'
          : inTense(reasonOf(object)),
      }),
    ),
    // Objects created by commands are not in the files, so they are not listed.
    ...kept
      .filter(object => !isCreatedByCommand(object))
      .map(
        (object): ObjectDiff => ({
          action: 'keep',
          object: nameOf(object),
          values: [],
          consequence:
            object.kind === 'PersistentVolumeClaim'
              ? 'removed from the Compose file; kept, with its data'
              : isRoute(object)
                ? 'not changed: no domain is set'
                : 'removed from the Compose file; kept, because of its policy `keep`',
        }),
      ),
  ]
}

const REPLACED = 'replaced, because its content changed'

/**
 * Returns a function that gives the reason for the deletion of an object. The name of a ConfigMap or Secret with files
 * ends with a hash of its content. Such an object can therefore be deleted although its file is still mounted: if the
 * content has changed, or if another object has the same content.
 */
function deletionReasons({ steps, prune }: Changes): (object: KubeObject) => string {
  const all = [...steps.values()]
  const familyOf = (object: KubeObject) => {
    const base = HOLDS_FILES.has(object.kind) ? /^(.+)-[0-9a-f]{8}$/.exec(object.metadata.name)?.[1] : undefined
    return base === undefined ? undefined : `${object.kind} ${object.metadata.namespace} ${base}`
  }
  const counts = (objects: readonly KubeObject[]): ReadonlyMap<string | undefined, number> => {
    const found = new Map<string | undefined, number>()
    for (const family of objects.map(familyOf)) found.set(family, (found.get(family) ?? 0) + 1)
    return found
  }
  const wanted = counts(all.map(step => step.wanted.object))
  const created = counts(all.flatMap(({ action, wanted }) => (action === 'create' ? [wanted.object] : [])))
  const pruned = counts(prune)
  const changed = new Set(
    all.flatMap(step =>
      step.action === 'update'
        ? step.differences.flatMap(({ before, after }) => (typeof after === 'string' ? [before] : []))
        : [],
    ),
  )
  return object => {
    const family = familyOf(object)
    if (family === undefined) return 'removed from the Compose file'
    if ((created.get(family) ?? 0) >= (pruned.get(family) ?? 0)) return REPLACED
    return wanted.has(family) || changed.has(object.metadata.name) ? 'no longer used' : 'removed from the Compose file'
  }
}

const HOLDS_FILES = new Set(['ConfigMap', 'Secret'])

function stepDiff(step: Step, secrets: Pick<KnownSecrets, 'maskValue'>): readonly ObjectDiff[] {
  if (step.action === 'unchanged') return []
  const { object, source } = step.wanted
  const base = { object: nameOf(object), source }
  switch (step.action) {
    case 'create':
      return [{ ...base, action: 'create', values: [] }]
    case 'replace':
      return [{ ...base, action: 'replace', values: [], consequence: step.reason }]
    case 'update': {
      const values = valueDiffs(step.differences, step.live, secrets)
      const declared = isDeclaredElsewhere(step.live)
        ? ', and loses fields that were set with `kubectl apply` and are not in the files'
        : ''
      const consequence = step.isAdopted ? `becomes part of the environment${declared}` : undefined
      return [{ ...base, action: 'update', values, ...(consequence && { consequence }) }]
    }
  }
}

/**
 * Returns the differing values for display and for programs. Masks both values if they are secret according to their
 * name, or contain known secrets.
 */
export function valueDiffs(
  differences: readonly Difference[],
  live: KubeObject,
  secrets: Pick<KnownSecrets, 'maskValue'> = new KnownSecrets(),
): readonly ValueDiff[] {
  return withoutKnown(differences, secrets).map(one => valueDiff(one, live))
}

function valueDiff({ keys, before, after, isHidden }: HiddenDifference, live: KubeObject): ValueDiff {
  const by = ownerOf(live, keys)
  const base = { path: pathText(keys), keys, ...(by && { by }) }
  const mask = isHidden ? '*** (changed)' : maskOf(live.kind, keys, before, after)
  return mask === undefined
    ? {
        ...base,
        ...(before !== undefined && { before: masked(before) }),
        ...(after !== undefined && { after: masked(after) }),
      }
    : { ...base, masked: mask }
}

/** Annotation of `kubectl apply`, which contains a copy of the object. */
const COPY = 'kubectl.kubernetes.io/last-applied-configuration'

function maskOf(kind: string, keys: readonly FieldKey[], before: unknown, after: unknown): string | undefined {
  if (keys.includes(SECRETS_ANNOTATION)) return 'the Secrets that it mounts have changed: its Pods are replaced'
  if (kind === 'Secret' && (keys[0] === 'data' || keys[0] === 'stringData')) {
    const size = (value: unknown) => Buffer.from(String(value), 'base64').length
    if (before === undefined) return `*** (new, ${size(after)} bytes)`
    return after === undefined ? '*** (removed)' : `*** (changed, ${size(before)} → ${size(after)} bytes)`
  }
  const change = before === undefined ? '*** (new)' : after === undefined ? '*** (removed)' : '*** (changed)'
  if (keys.includes(COPY)) return change
  const variable = keys.findLast(key => typeof key === 'object')
  const isSecret = (value: unknown) => variable !== undefined && holdsSecret(variable.item, value)
  return variable && keys.includes('env') && (isSecret(before) || isSecret(after)) ? change : undefined
}

/**
 * Returns true if a variable is secret according to its name and value. `value` is the text of the variable, or the
 * object that contains the text as its `value`.
 */
function holdsSecret(name: string, value: unknown): boolean {
  const text = isMap(value) ? value['value'] : value
  return typeof text === 'string' && isVariableWithSecret(name, text)
}

/** Returns a part of an object, such as a container, with the values of secret variables masked. */
function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked)
  if (!isMap(value)) return value
  const { name } = value
  const isSecret = typeof name === 'string' && holdsSecret(name, value)
  const entries = Object.entries(value)
  return Object.fromEntries(entries.map(([key, inner]) => [key, isSecret && key === 'value' ? '***' : masked(inner)]))
}
