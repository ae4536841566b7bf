import type { ObjectDiff } from '../operations/objects/diff.ts'

/** What differs, and how many objects do not. */
export interface Compared {
  readonly diffs: readonly ObjectDiff[]
  readonly unchanged: number
}
