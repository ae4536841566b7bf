import { diagnosticsToJson } from '../../compiler/diagnostics/render/json.ts'
import { failureSummary } from '../../compiler/diagnostics/render/summary.ts'
import { renderDiagnostics } from '../../compiler/diagnostics/render/text.ts'
import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { jsonText, printable } from '../../compiler/values/printable.ts'
import { type MigratedFile, type MigrateOutcome, migrate } from '../../init/migrate/migrate.ts'
import type { Context } from '../command.ts'
import type { MigrateValues } from '../commands/migrate.ts'
import { fileDiff } from '../terminal/edit-diff.ts'
import { type Io, wantsColour } from '../terminal/io.ts'
import { writeAsIs } from '../terminal/redacting.ts'

/** Converts files of other tools, and prints the result or the names of the written files. */
export async function migrateFiles(
  { io, logLevel, passed }: Context,
  words: readonly string[],
  options: MigrateValues,
): Promise<number> {
  const files = passed ? words.slice(0, words.length - passed.length) : words
  if (passed && files.length > 0)
    throw new UsageError('files and a command after `--` cannot be combined', { hint: 'run `devctl migrate` twice' })
  const { write, to, replace, output } = options
  const outcome = await migrate({ workspace: io }, { files, command: passed, to, write, replace })
  if (output === 'json') writeAsIs(io.stdout, `${jsonText(toJson(outcome), 2)}\n`)
  else {
    const shown = outcome.diagnostics.filter(({ severity }) => logLevel !== 'error' || severity === 'error')
    // Each note has its own hint, so the notes are not grouped.
    io.stderr.write(renderDiagnostics(shown, { colour: wantsColour(io.stderr, io.env), width: io.stderr.columns }))
    if (outcome.kind === 'migrated') await printFiles(io, outcome)
    else io.stderr.write(`${failureSummary(outcome.diagnostics, 'nothing was written')}\n`)
  }
  return outcome.kind === 'migrated' ? 0 : 1
}

function toJson(outcome: MigrateOutcome): object {
  const diagnostics = diagnosticsToJson(outcome.diagnostics)
  if (outcome.kind === 'refused') return { files: [], diagnostics }
  return {
    files: outcome.files.map(({ path, text, before }) => ({
      path,
      isChanged: text !== before,
      isWritten: outcome.isWritten && text !== before,
      text,
    })),
    diagnostics,
  }
}

async function printFiles(io: Io, outcome: Extract<MigrateOutcome, { readonly kind: 'migrated' }>): Promise<void> {
  const { files, isWritten, copies } = outcome
  const isChanged = ({ text, before }: MigratedFile) => text !== before
  if (isWritten) {
    const lines = [
      ...files.map(file => `${isChanged(file) ? 'written' : 'unchanged'}: ${file.path}`),
      ...copies.map(copy => `kept: ${copy}`),
      'next: devctl validate',
    ]
    io.stdout.write(`${lines.join('\n')}\n`)
    return
  }
  for (const file of files) {
    if (!file.isEdit) writeAsIs(io.stdout, files.length > 1 ? `# ${printable(file.path)}\n${file.text}` : file.text)
    else if (isChanged(file)) io.stdout.write(await fileDiff(file, wantsColour(io.stdout, io.env)))
    else io.stderr.write(`unchanged: ${file.path}\n`)
  }
}
