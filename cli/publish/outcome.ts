import { plural } from '../../compiler/diagnostics/render/summary.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { jsonText } from '../../compiler/values/printable.ts'
import { subjectOf } from '../../operations/gitops/message.ts'
import type { FolderChange, Outcome } from '../../operations/gitops/publication.ts'
import type { Context } from '../command.ts'
import { wantsColour } from '../io.ts'
import { diffText } from '../print-diff.ts'
import type { PublishValues } from './publish-values.ts'
import type { Published } from './published.ts'
import { openRequest, tellWithdrawn } from './pull-request.ts'
import { sourcesOf } from './sources.ts'

/** Prints what has come out, and sees to the pull request. Gives the exit status. */
export async function tellOutcome(
  context: Context,
  options: PublishValues,
  outcome: Outcome,
  published: Published,
): Promise<number> {
  const { io } = context
  const { destination, message } = published
  const { path, target } = destination
  const print = (record: object, text: string) =>
    void io.stdout.write(options.output === 'json' ? `${jsonText({ path, ...record }, 2)}\n` : `${text}\n`)
  switch (outcome.kind) {
    case 'unchanged': {
      const { head: commit, branch, request } = outcome
      if (request !== undefined) tellWithdrawn(context, published, branch, request)
      print({ outcome: 'unchanged', branch, commit }, unchangedText(path, options, published))
      return 0
    }
    case 'newer': {
      const { source, isRequest } = outcome
      const place = isRequest ? `\`${target.request}\`` : path
      print(
        { outcome: 'newer', source, ...(isRequest && { branch: target.request }) },
        newerText(place, source, published),
      )
      return 0
    }
    case 'planned': {
      const { branch, changes } = outcome
      const record = { path, outcome: 'planned', branch }
      return tellPlanned(
        context,
        options,
        { place: path, record, changes, more: requestText(published, branch) },
        published,
      )
    }
    case 'requested': {
      const { branch, commit } = outcome
      const { lines, ...request } = await openRequest(context, published, branch, message!)
      print(
        { outcome: 'requested', branch: target.request, base: branch, commit, request },
        [unchangedText(`\`${target.request}\``, { verify: false }, published), ...lines].join('\n'),
      )
      return 0
    }
    case 'pushed': {
      const { commit, branch, before } = outcome.pushed
      const objects = message!.files === undefined ? message!.changes : undefined
      const subject = subjectOf(message!)
      if (target.request === undefined) {
        const page = await commitPage(context, published, commit)
        print(
          { outcome: 'pushed', branch, before, commit, subject, page, objects },
          [subject, ...(page ? [page] : [])].join('\n'),
        )
        return 0
      }
      const { lines, ...request } = await openRequest(context, published, branch, message!)
      print(
        { outcome: 'pushed', branch: target.request, base: branch, before, commit, subject, request, objects },
        [subject, ...lines].join('\n'),
      )
      return 0
    }
  }
}

/** What would be written, and where. */
export interface Planned {
  /** As people call it. */
  readonly place: string
  /** What the JSON of it begins with. */
  readonly record: object
  readonly changes: readonly FolderChange[]
  /** What is said after the files. */
  readonly more?: string
}

/** Prints what would be written; gives the exit status. Throws a UserError where that was to be nothing (`--verify`). */
export async function tellPlanned(
  { io }: Context,
  { verify, output }: Pick<PublishValues, 'verify' | 'output'>,
  { place, record, changes, more = '' }: Planned,
  published: Pick<Published, 'describe' | 'compiled' | 'origin'>,
): Promise<number> {
  const { changes: diffs, files } = await published.describe(changes)
  const objects = files === undefined ? diffs : undefined
  if (output === 'json')
    io.stdout.write(`${jsonText({ ...record, objects, files: changes.flatMap(filesThatDiffer) }, 2)}\n`)
  else {
    const colour = wantsColour(io.stdout, io.env)
    io.stdout.write(await diffText(diffs, { colour, now: 0, placeOf: ({ source }) => source }))
    if (!verify) io.stderr.write(`not written: ${changes.map(changedText).join('; ')}${more}\n`)
  }
  if (!verify) return 0
  const differing = changes.flatMap(filesThatDiffer).map(({ path, why }) => `\`${path}\` ${why}`)
  throw new UserError(`\`${place}\` does not hold what ${sourceText(published)} renders to`, {
    notes: [...differing.slice(0, 10), ...(differing.length > 10 ? [`and ${differing.length - 10} more`] : [])],
    hint: changes.some(({ change }) => change.edits.length > 0)
      ? 'take what was edited by hand into the Compose files, then publish them; `devctl publish --take-over` discards it'
      : 'publish it with `devctl publish`',
  })
}

const requestText = ({ destination: { target } }: Published, base: string) =>
  target.request === undefined ? '' : ` (a request from \`${target.request}\` into \`${base}\`)`

/** The files of a folder that are not what they should be, and why. */
function filesThatDiffer({ path, change: { writes, removals, edits, before: lock }, before }: FolderChange) {
  const edited = new Map(edits.map(edit => [edit.path, edit]))
  const why = (file: string, otherwise: string) => {
    const edit = edited.get(file)
    return edit === undefined ? otherwise : edit.isOurs ? 'was edited by hand' : "is not devctl's"
  }
  const missing = (file: string) => (lock?.files.has(file) ? 'was removed by hand' : 'is missing')
  const at = (file: string) => (path === '.' ? file : `${path}/${file}`)
  return [
    ...[...writes.keys()].map(file => ({
      path: at(file),
      why: why(file, before.has(file) ? 'is out of date' : missing(file)),
    })),
    ...removals.map(file => ({ path: at(file), why: why(file, 'should not be there any more') })),
  ]
}

/** `2 files changed, 1 removed`. */
export function fileCounts(changes: readonly FolderChange[]): string {
  const number = (count: (change: FolderChange) => number) => changes.reduce((sum, one) => sum + count(one), 0)
  const words = countWords({
    changed: number(({ change, added }) => change.writes.size - added),
    added: number(({ added }) => added),
    removed: number(({ change }) => change.removals.length),
  })
  return words.replace(/^\d+/, number => plural(Number(number), 'file')) || 'no object changed'
}

/** `environments/staging/shop: 2 changed, 1 added`. */
export function changedText({ path, change: { writes, removals }, added }: FolderChange): string {
  const words = countWords({ changed: writes.size - added, added, removed: removals.length })
  return `${path}: ${words || 'unchanged'}`
}

function countWords(counts: Readonly<Record<string, number>>): string {
  const words = Object.entries(counts).flatMap(([word, count]) => (count > 0 ? [`${count} ${word}`] : []))
  return words.join(', ')
}

/** That a place holds what it should. */
export function unchangedText(
  place: string,
  { verify }: Pick<PublishValues, 'verify'>,
  published: Pick<Published, 'compiled' | 'origin'>,
): string {
  const what = verify ? `verified: ${place} holds` : `unchanged: ${place} already holds`
  return `${what} what ${sourceText(published)} renders to`
}

/** That a place holds what a newer source commit renders to. */
export function newerText(place: string, source: string, { origin: { commit } }: Pick<Published, 'origin'>): string {
  const [theirs, ours] = [source, commit?.commit].map(one => one?.slice(0, 7))
  return `left as it is: ${place} holds ${theirs}, which is newer than ${ours} (\`--rollback\` publishes the older one)`
}

/** `compose.yaml at 9ab12cd`. */
function sourceText({ compiled: { manifests }, origin: { commit } }: Pick<Published, 'compiled' | 'origin'>): string {
  const files = sourcesOf(manifests)
  const shown = files.length === 1 ? files[0]! : 'the source'
  if (!commit) return shown
  return `${shown} at ${commit.commit.slice(0, 7)}${commit.isDirty ? ' with uncommitted changes' : ''}`
}

async function commitPage({ io }: Context, { destination }: Published, commit: string): Promise<string | undefined> {
  const { forgeOf } = await import('../../adapters/forge/forge-of.ts')
  return forgeOf(destination.target.address.url, io.env)?.commitPage(commit)
}
