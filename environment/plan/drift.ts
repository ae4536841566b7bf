import type { KnownSecrets } from '../../compiler/values/secrets/known-secrets.ts'
import type { Changes } from './changes.ts'
import { nameOf } from './desired-state.ts'
import { type ValueDiff, valueDiffs } from './diff.ts'
import type { Owner } from './field-owners.ts'

/** A value that another user or tool has set, and that a deploy overwrites. Secret values are masked. */
export interface Drift extends ValueDiff {
  /** `deployment/web`. */
  readonly object: string
  readonly by: Owner
}

/** True if a person has done it with kubectl; other tools may do it again at any time. */
export const isByHand = ({ by }: Drift): boolean => by.manager.startsWith('kubectl')

/** The values set by others that a deploy would revert. */
export function driftOf({ steps }: Changes, secrets?: KnownSecrets): readonly Drift[] {
  return [...steps.values()].flatMap(step => {
    if (step.action !== 'update' || step.isAdopted) return []
    return valueDiffs(step.differences, step.live, secrets).flatMap(value =>
      value.by ? [{ ...value, by: value.by, object: nameOf(step.object) }] : [],
    )
  })
}
