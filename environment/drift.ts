import type { Changes } from './changes.ts'
import { pathText } from './comparison.ts'
import { type Owner, ownerOf } from './field-owners.ts'
import { nameOf } from './wanted.ts'

/** A value that somebody has changed by hand, and that a deploy takes back (reference/peers.md 4.5). */
export interface Drift {
  /** `deployment/web`. */
  readonly object: string
  readonly path: string
  readonly by: Owner
}

/** What a deploy would take back of what people have changed with kubectl. */
export function driftOf({ steps }: Changes): readonly Drift[] {
  return [...steps.values()].flatMap(step => {
    if (step.action !== 'update' || step.isAdopted) return []
    return step.differences.flatMap(({ keys }) => {
      const by = ownerOf(step.live, keys)
      return by?.manager.startsWith('kubectl') ? [{ object: nameOf(step.object), path: pathText(keys), by }] : []
    })
  })
}
