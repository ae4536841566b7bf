import type { KubernetesObject, Manifest } from '../../constructs/manifest.ts'
import { differencesOf } from '../../environment/comparison.ts'
import { type ObjectDiff, valueDiff } from '../../environment/diff.ts'
import { nameOf } from '../../environment/wanted.ts'
import { idOf } from '../manifest-files.ts'

/** What differs, object by object, between what is there and what is wanted. Secret values are masked. */
export function objectChanges(before: readonly KubernetesObject[], wanted: readonly Manifest[]): readonly ObjectDiff[] {
  const there = new Map(before.map(object => [idOf(object), object]))
  const found = wanted.flatMap(({ object, source }): readonly ObjectDiff[] => {
    const old = there.get(idOf(object))
    there.delete(idOf(object))
    const base = { object: nameOf(object), source }
    if (!old) return [{ ...base, action: 'create', values: [] }]
    const values = differencesOf(old, object).map(difference => valueDiff(difference, old))
    return values.length === 0 ? [] : [{ ...base, action: 'update', values }]
  })
  const gone = [...there.values()].map(
    (object): ObjectDiff => ({
      action: 'delete',
      object: nameOf(object),
      values: [],
      consequence: 'the files do not make it any more',
    }),
  )
  return [...found, ...gone]
}
