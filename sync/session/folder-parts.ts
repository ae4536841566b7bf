import type { TreeNode } from '../core/tree-node.ts'
import type { ChangingRules } from '../scan/changing-rules.ts'
import { LargeFiles } from '../stage/large-files.ts'
import { LocalContents } from '../stage/local-contents.ts'
import type { OnlyHere } from '../stage/only-here.ts'
import { ConflictSteps } from './conflict-steps.ts'
import { DeletionSafety } from './deletion-safety.ts'
import { Deletions } from './deletions.ts'
import type { FolderState } from './folder-state.ts'
import { LocalSteps } from './local-steps.ts'
import { Reconciler } from './reconciler.ts'
import { RemoteSteps } from './remote-steps.ts'

/** Components that synchronize a folder. All of them work on the same state. */
export interface FolderParts {
  readonly state: FolderState
  readonly decisions: Reconciler
  readonly contents: LocalContents
  readonly local: LocalSteps
  readonly remote: RemoteSteps
  readonly large: LargeFiles
  readonly conflicts: ConflictSteps
  readonly deletions: Deletions
  readonly losses: DeletionSafety
}

export function makeFolderParts(state: FolderState, rules: ChangingRules, onlyHere: OnlyHere): FolderParts {
  const local = new LocalSteps(state)
  const remote = new RemoteSteps(state)
  const large = new LargeFiles(state, local, remote)
  const deletions = new Deletions(state)
  return {
    state,
    decisions: new Reconciler(state, rules, onlyHere),
    contents: new LocalContents(state),
    local,
    remote,
    large,
    conflicts: new ConflictSteps(state, remote, large),
    deletions,
    losses: new DeletionSafety(state, deletions),
  }
}

/** Finishes a path: nothing is left to do for it at the moment. */
export function finishPath({ state, decisions, conflicts }: FolderParts, node: TreeNode): void {
  decisions.forget(node)
  conflicts.forget(node)
  state.finish(node)
}
