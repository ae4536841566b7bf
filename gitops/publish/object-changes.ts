import type { KnownSecrets } from '../../compiler/values/secrets/known-secrets.ts'
import { maskSecrets } from '../../compiler/values/secrets/mask-secrets.ts'
import type { KubernetesObject, Manifest } from '../../constructs/manifest.ts'
import { differencesOf } from '../../environment/plan/comparison.ts'
import { nameOf } from '../../environment/plan/desired-state.ts'
import { type ObjectDiff, type ValueDiff, valueDiffs } from '../../environment/plan/diff.ts'
import { isForced, withoutForce } from '../repository/force.ts'
import { idOf } from '../repository/manifest-files.ts'

/**
 * Returns the differences between the existing and the wanted objects, object by object. Masks values that are secret
 * by their name or form, and the values in `secrets`.
 */
export function objectChanges(
  before: readonly KubernetesObject[],
  wanted: readonly Manifest[],
  secrets?: KnownSecrets,
): readonly ObjectDiff[] {
  const there = new Map(before.map(object => [idOf(object), object]))
  const found = wanted.flatMap(({ object, source }): readonly ObjectDiff[] => {
    const old = there.get(idOf(object))
    there.delete(idOf(object))
    const base = { object: nameOf(object), source }
    if (!old) return [{ ...base, action: 'create', values: [] }]
    const [present, next] = [withoutForce(old), withoutForce(object)]
    const values = valueDiffs(differencesOf(present, next), present, secrets).map(withoutShapes)
    if (values.length === 0) return []
    if (!isForced(object)) return [{ ...base, action: 'update', values }]
    return [{ ...base, action: 'replace', values, consequence: 'the controller deletes it and creates it again' }]
  })
  const gone = [...there.values()].map(
    (object): ObjectDiff => ({
      action: 'delete',
      object: nameOf(object),
      values: [],
      consequence: 'no longer in the files',
    }),
  )
  return [...found, ...gone]
}

/**
 * Returns a difference with all values masked that have the form of a secret. The repository may contain secrets from a
 * time when publishes were not checked for secrets.
 */
function withoutShapes(diff: ValueDiff): ValueDiff {
  if (diff.masked !== undefined) return diff
  const [before, after] = [diff.before, diff.after].map(maskIn)
  if (before !== undefined && JSON.stringify(before) === JSON.stringify(after))
    return { path: diff.path, keys: diff.keys, masked: '*** (changed)' }
  return { ...diff, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }
}

function maskIn(value: unknown): unknown {
  if (typeof value === 'string') return maskSecrets(value)
  if (Array.isArray(value)) return value.map(maskIn)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskIn(inner)]))
}
