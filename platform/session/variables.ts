import { resolve } from 'node:path'
import { readFile } from '../../adapters/files/read-file.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { parseDotenv } from '../../compiler/text/dotenv.ts'
import { SourceFile } from '../../compiler/text/source.ts'
import { variableNameProblem } from '../rules/variable-names.ts'

/** Throws a UsageError for a name that a variable of the platform cannot have. */
export function checkVariableName(name: string): void {
  const problem = variableNameProblem(name)
  if (problem !== undefined)
    throw new UsageError(`a variable of the platform cannot be called \`${name.slice(0, 100)}\`: ${problem}`, {
      hint: 'set it in the shell, or in `.env` beside the Compose file',
    })
}

/**
 * Content of a file like `.env`, with its problems. In the values, references to variables are resolved only with
 * variables of the same file.
 */
export interface VariablesFile {
  readonly values: Readonly<Record<string, string>>
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads a file like `.env`. Throws a UserError if the file does not exist or contains no variables. */
export function readVariablesFile(folder: string, path: string): VariablesFile {
  const content = readFile(resolve(folder, path))
  if (content.kind !== 'file')
    throw new UserError(`\`${path}\` cannot be read${content.kind === 'missing' ? ': it does not exist' : ''}`)
  const reporter = new Reporter()
  const file = new SourceFile(path, new TextDecoder().decode(content.bytes), resolve(folder, path))
  const entries = parseDotenv(file, () => undefined, reporter)
  const diagnostics = reporter.diagnostics()
  if (entries.length === 0 && diagnostics.length === 0)
    throw new UserError(`\`${path}\` has no variables`, { hint: 'write lines of `NAME=value`' })
  return { values: Object.fromEntries(entries.map(({ name, value }) => [name, value])), diagnostics }
}
