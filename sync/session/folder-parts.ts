import type { TreeNode } from '../core/tree-node.ts'
import type { ChangingRules } from '../scan/changing-rules.ts'
import { LargeFiles } from '../stage/large-files.ts'
import { LocalContents } from '../stage/local-contents.ts'
import type { OnlyHere } from '../stage/only-here.ts'
import { ConflictSteps } from './conflict-steps.ts'
import { Decisions } from './decisions.ts'
import { Deletions } from './deletions.ts'
import type { FolderState } from './folder-state.ts'
import { LocalSteps } from './local-steps.ts'
import { LossGuard } from './loss-guard.ts'
import { RemoteSteps } from './remote-steps.ts'

/** What the steps of a folder are made of. All of it works on the same state. */
export interface FolderParts {
  readonly state: FolderState
  readonly decisions: Decisions
  readonly contents: LocalContents
  readonly local: LocalSteps
  readonly remote: RemoteSteps
  readonly large: LargeFiles
  readonly conflicts: ConflictSteps
  readonly deletions: Deletions
  readonly losses: LossGuard
}

export function makeFolderParts(state: FolderState, rules: ChangingRules, onlyHere: OnlyHere): FolderParts {
  const local = new LocalSteps(state)
  const remote = new RemoteSteps(state)
  const large = new LargeFiles(state, local, remote)
  const deletions = new Deletions(state)
  return {
    state,
    decisions: new Decisions(state, rules, onlyHere),
    contents: new LocalContents(state),
    local,
    remote,
    large,
    conflicts: new ConflictSteps(state, remote, large),
    deletions,
    losses: new LossGuard(state, deletions),
  }
}

/** Nothing is left to do for the path, for now. */
export function finishPath({ state, decisions, conflicts }: FolderParts, node: TreeNode): void {
  decisions.forget(node)
  conflicts.forget(node)
  state.finish(node)
}
