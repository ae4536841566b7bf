import type { KnownSecrets } from '../../compiler/values/secrets/known-secrets.ts'
import type { Changes } from './changes.ts'
import { nameOf } from './desired-state.ts'
import { type ValueDiff, valueDiffs } from './diff.ts'
import type { Owner } from './field-owners.ts'

/** Value that another user or tool has set, and that a deploy overwrites. Secret values are masked. */
export interface Drift extends ValueDiff {
  /** Name such as `deployment/web`. */
  readonly object: string
  readonly by: Owner
}

/** Returns true if a user made the change with kubectl. Other tools may repeat their changes at any time. */
export const isByHand = ({ by }: Drift): boolean => by.manager.startsWith('kubectl')

/** Returns the values set by others that a deploy would overwrite, with the values in `secrets` masked. */
export function driftOf({ steps }: Changes, secrets?: KnownSecrets): readonly Drift[] {
  return [...steps.values()].flatMap(step => {
    if (step.action !== 'update' || step.isAdopted) return []
    return valueDiffs(step.differences, step.live, secrets).flatMap(value =>
      value.by ? [{ ...value, by: value.by, object: nameOf(step.object) }] : [],
    )
  })
}
