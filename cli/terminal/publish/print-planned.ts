import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { jsonText } from '../../../compiler/values/printable.ts'
import type { DifferingFile } from '../../../gitops/publish/differing-files.ts'
import type { PlannedChange, Rendered } from '../../../gitops/publish/outcome.ts'
import type { Context } from '../../command.ts'
import { wantsColour } from '../io.ts'
import { diffText } from '../print-diff.ts'
import { folderText, shortHash } from './steps.ts'

/** Options for printing a result. */
export interface ResultOptions {
  /** True to only check for differences. */
  readonly verify: boolean
  readonly output: 'text' | 'json'
}

/** A planned change, with texts and JSON fields about its target. */
export interface Planned {
  /** Name of the target in messages. */
  readonly place: string
  /** First fields of the JSON output. */
  readonly record: object
  readonly change: PlannedChange
  /** Newer commit of the source that is published. */
  readonly newer?: string | undefined
  /** Text after the list of files. */
  readonly more?: string
}

/**
 * Prints the changes that would be written, and returns the exit status. With `--verify`, throws a UserError for any
 * difference.
 */
export async function printPlanned(
  { io }: Context,
  { verify, output }: ResultOptions,
  { place, record, change: { objects, folders, files }, newer, more = '' }: Planned,
  rendered: Rendered,
): Promise<number> {
  const differing = files.map(({ path, why }) => ({ path, why: WHY[why] }))
  if (output === 'json') io.stdout.write(`${jsonText({ ...record, objects, files: differing }, 2)}\n`)
  else {
    const colour = wantsColour(io.stdout, io.env)
    io.stdout.write(await diffText(objects ?? [], { colour, now: 0, placeOf: ({ source }) => source }))
    if (!verify) io.stderr.write(`not written: ${folders.map(folderText).join('; ')}${more}\n`)
  }
  if (!verify) return 0
  const notes = differing.map(({ path, why }) => `\`${path}\` ${why}`)
  const isEdited = files.some(({ why }) => why === 'edited-by-hand' || why === 'foreign')
  throw new UserError(`\`${place}\` does not hold what ${sourceText(rendered)} renders to`, {
    notes: [...notes.slice(0, 10), ...(notes.length > 10 ? [`and ${notes.length - 10} more`] : [])],
    hint: newer
      ? `\`${place}\` holds ${shortHash(newer)}, which is newer: check that commit out, and verify again`
      : isEdited
        ? 'to keep the manual edits, add them to the Compose files and publish; to discard them, use `--take-over` instead of `--verify`'
        : 'the same command without `--verify` publishes it',
  })
}

const WHY: Readonly<Record<DifferingFile['why'], string>> = {
  'edited-by-hand': 'was edited by hand',
  foreign: "is not devctl's",
  'out-of-date': 'is out of date',
  missing: 'is missing',
  'removed-by-hand': 'was removed by hand',
  'left-over': 'is no longer rendered',
}

/** Returns the line for a target that is up to date. */
export function unchangedText(place: string, { verify }: Pick<ResultOptions, 'verify'>, rendered: Rendered): string {
  const what = verify ? `verified: ${place} holds` : `unchanged: ${place} already holds`
  return `${what} what ${sourceText(rendered)} renders to`
}

/** Returns the line for a target that is skipped, because it was rendered from `source`, a newer commit. */
export function newerText(place: string, source: string, { sourceCommit }: Rendered): string {
  const [theirs, ours] = [source, sourceCommit?.commit].map(one => one?.slice(0, 7))
  return `skipped: ${place} holds ${theirs}, which is newer than ${ours} (to publish the older one, use \`--rollback\`)`
}

/** Describes the source of the rendered files: `compose.yaml at 9ab12cd`. */
function sourceText({ sources, sourceCommit }: Rendered): string {
  const shown = sources.length === 1 ? sources[0]! : 'the source'
  if (!sourceCommit) return shown
  return `${shown} at ${shortHash(sourceCommit.commit)}${sourceCommit.isDirty ? ' with uncommitted changes' : ''}`
}
