import type { Rejection } from '../../../adapters/git/rejection.ts'
import type { BuildEvent } from '../../../builds/events.ts'
import { plural } from '../../../compiler/diagnostics/render/summary.ts'
import type { PublishEvent } from '../../../gitops/publish/events.ts'
import { type FolderCounts, fileWords } from '../../../gitops/publish/folder-counts.ts'

/** The text of a completed step of a publish. */
interface Step {
  readonly step: string
  readonly text: string
}

/** Returns the step that an event of a publish completes, with its text. */
export function stepOf(
  event: Exclude<PublishEvent, BuildEvent | { readonly type: 'push-failed' | 'request-closed' }>,
): Step {
  switch (event.type) {
    case 'compiled': {
      const to = event.environment === undefined ? '' : ` for ${event.environment}`
      return { step: 'Compiled', text: `${plural(event.objects, 'object')}${to}` }
    }
    case 'fetched': {
      const { repository, branch, head } = event
      const at = head === undefined ? ', which has no commit yet' : ` ${shortHash(head)}`
      return { step: 'Fetched', text: `${repository} ${branch}${at}` }
    }
    case 'tag-read': {
      const { reference, digest } = event
      return { step: 'Found', text: `${reference} ${digest === undefined ? 'does not exist yet' : shortHash(digest)}` }
    }
    case 'promoting': {
      const { environment, application, commit } = event
      return { step: 'Found', text: `${environment} has ${application} at ${shortHash(commit)}` }
    }
    case 'written':
      return { step: 'Written', text: folderText(event.folder) }
    case 'pushed': {
      const { branch, before, commit, retries } = event
      return { step: 'Pushed', text: `${branch} ${fromText(before)}${shortHash(commit)}${triesText(retries)}` }
    }
    case 'artifact-pushed': {
      const { reference, before, digest, ownTag } = event
      return { step: 'Pushed', text: `${reference} ${fromText(before)}${shortHash(digest)}, also ${ownTag}` }
    }
  }
}

/** Summarizes the changed files of a folder: `environments/staging/shop: 2 files changed, 1 added`. */
export const folderText = (folder: FolderCounts): string => `${folder.path}: ${fileWords(folder) || 'unchanged'}`

/** Returns the first seven digits of a commit hash or a digest. */
export const shortHash = (hash: string): string => hash.replace(/^sha256:/, '').slice(0, 7)

const fromText = (before: string | undefined) => (before === undefined ? '' : `${shortHash(before)} → `)

const ORDINALS = ['second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']

function triesText(retries: readonly Rejection[]): string {
  const last = retries.at(-1)
  if (last === undefined) return ''
  const which = ORDINALS[retries.length - 1] ?? `${retries.length + 1}th`
  return ` (${which} try: ${last === 'race' ? 'another push came first' : 'the connection was lost'})`
}
