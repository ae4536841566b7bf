import { failureSummary } from '../../../compiler/diagnostics/render/summary.ts'
import { jsonText } from '../../../compiler/values/printable.ts'
import type { PublishOutcome, RepositoryOutcome } from '../../../gitops/publish/outcome.ts'
import type { Context } from '../../command.ts'
import { printArtifact } from './print-artifact.ts'
import { newerText, printPlanned, type ResultOptions, unchangedText } from './print-planned.ts'
import { requestJson, requestLines } from './request-text.ts'

/** Prints the result of a publish and returns the exit status. Throws a UserError if `--verify` found a difference. */
export async function printPublished(
  context: Context,
  options: ResultOptions,
  outcome: PublishOutcome,
): Promise<number> {
  if (outcome.kind !== 'refused')
    return outcome.to === 'registry'
      ? printArtifact(context, options, outcome)
      : printInRepository(context, options, outcome)
  context.io.stderr.write(`${failureSummary(outcome.diagnostics, 'nothing was published')}\n`)
  return 1
}

async function printInRepository(
  context: Context,
  options: ResultOptions,
  outcome: RepositoryOutcome,
): Promise<number> {
  const { io } = context
  const { path, requestBranch } = outcome
  const print = (record: object, lines: readonly string[]) =>
    void io.stdout.write(options.output === 'json' ? `${jsonText({ path, ...record }, 2)}\n` : `${lines.join('\n')}\n`)
  switch (outcome.kind) {
    case 'unchanged': {
      const { branch, commit, withdrawn } = outcome
      if (withdrawn !== undefined) io.stderr.write(withdrawnText(requestBranch!, branch, withdrawn))
      print({ outcome: 'unchanged', branch, commit }, [unchangedText(path, options, outcome)])
      return 0
    }
    case 'newer': {
      const { newer: source, isRequest } = outcome
      const place = isRequest ? `\`${requestBranch}\`` : path
      const record = { outcome: 'newer', source, ...(isRequest && { branch: requestBranch }) }
      print(record, [newerText(place, source, outcome)])
      return 0
    }
    case 'planned': {
      const { branch, change, newer } = outcome
      const record = { path, outcome: 'planned', branch }
      const more = requestBranch === undefined ? '' : ` (a request from \`${requestBranch}\` into \`${branch}\`)`
      return printPlanned(context, options, { place: path, record, change, newer, more }, outcome)
    }
    case 'requested': {
      const { branch: base, commit, request } = outcome
      const record = { outcome: 'requested', branch: requestBranch, base, commit, request: requestJson(request) }
      const held = unchangedText(`\`${requestBranch}\``, { verify: false }, outcome)
      print(record, [held, ...requestLines(request)])
      return 0
    }
    case 'pushed': {
      const { branch, before, commit, subject, objects, page, request } = outcome
      if (!request) {
        const record = { outcome: 'pushed', branch, before, commit, subject, page, objects }
        print(record, [subject, ...(page ? [page] : [])])
        return 0
      }
      const of = { outcome: 'pushed', branch: requestBranch, base: branch, before, commit, subject }
      print({ ...of, request: requestJson(request), objects }, [subject, ...requestLines(request)])
      return 0
    }
  }
}

/**
 * Returns the message about a branch whose changes the base branch already contains, so that its pull request is
 * obsolete. The message says that the branch was removed, or that the server does not allow its removal.
 */
const withdrawnText = (head: string, base: string, what: 'removed' | 'left'): string =>
  what === 'removed'
    ? `removed the branch \`${head}\`: \`${base}\` already contains its changes\n`
    : `warning: the server does not allow deleting the branch \`${head}\`: close its pull request if one is open, since merging it would restore an older state\n`
