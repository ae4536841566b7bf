import { failureSummary, plural } from '../../../compiler/diagnostics/render/summary.ts'
import { UsageError, UserError } from '../../../compiler/diagnostics/user-error.ts'
import { looksSecretName } from '../../../compiler/values/secrets/secret-names.ts'
import { agoText } from '../../../environment/ago.ts'
import type { ShownVariable } from '../../../platform/api/variables.ts'
import { checkVariableName, readVariablesFile } from '../../../platform/session/variables.ts'
import type { Context } from '../../command.ts'
import { INTERRUPTED } from '../../terminal/exit-status.ts'
import type { Io } from '../../terminal/io.ts'
import { listText } from '../../terminal/print-list.ts'
import { printDiagnostics, printSummary } from '../../terminal/report.ts'
import { toTable } from '../../terminal/table.ts'
import { withoutLineBreak } from '../secret-input.ts'
import { onScope, type ScopeValues, whose } from './scope.ts'

/**
 * Prints the variables. Without a scope option, prints all variables that apply in the namespace, in descending order
 * of precedence.
 */
export function listVariables(
  context: Context,
  values: ScopeValues & { readonly output: 'text' | 'json' | 'name' },
): Promise<number> {
  const { io, logLevel } = context
  return onScope(context, values, 'variables', async ({ platform, scope, namespace, isChosen, signal }) => {
    const scopes = isChosen ? [scope] : [`namespace:${namespace}`, 'user', 'admin']
    const get = async (one: string) => {
      const { items } = await platform.call('GET /variables/:scope', { params: { scope: one } }, signal)
      return items.map(item => ({ ...item, scope: one }))
    }
    const found = (await Promise.all(scopes.map(get))).flat()
    const text = () => toTable([['Name', 'For', 'Set', 'By'], ...found.map(toRow)])
    const names = [...new Set(found.map(({ name }) => name))]
    if (values.output === 'json' || found.length > 0)
      io.stdout.write(await listText(values.output, { records: found.map(toRecord), names, text }))
    else printSummary('there are no variables; to set one, run `devctl variables set NAME`', io, logLevel)
    return 0
  })
}

interface Found extends ShownVariable {
  readonly scope: string
}

const toRecord = ({ name, scope, set, by }: Found) => ({ name, scope, set, by: by.login })

const toRow = ({ name, scope, set, by }: Found) => [name, whose(scope), agoText(Date.now() - Date.parse(set)), by.login]

/**
 * Sets variables from the arguments and from a file; arguments take precedence. An argument is `NAME=VALUE` or `NAME`.
 * The value of a `NAME` is typed at the terminal or read from standard input.
 */
export async function setVariables(
  context: Context,
  words: readonly string[],
  values: ScopeValues & { readonly file: string | undefined },
): Promise<number> {
  const { io, logLevel } = context
  const { file } = values
  if (words.length === 0 && file === undefined)
    throw new UsageError('which variable?', { hint: 'name it, `devctl variables set NAME`, or add `--file .env`' })
  const ofFile = file === undefined ? { values: {}, diagnostics: [] } : readVariablesFile(io.cwd, file)
  printDiagnostics(ofFile.diagnostics, io, logLevel)
  if (ofFile.diagnostics.some(({ severity }) => severity === 'error')) {
    io.stderr.write(`${failureSummary(ofFile.diagnostics, 'nothing was set')}\n`)
    return 1
  }
  const names = words.filter(word => !word.includes('='))
  const written = Object.fromEntries(words.filter(word => word.includes('=')).map(splitWord))
  for (const name of [...Object.keys(ofFile.values), ...names, ...Object.keys(written)]) checkVariableName(name)
  if (logLevel !== 'error') warnOfHistory(io, Object.keys(written))
  // Errors in the input are reported before any request to the platform.
  const piped = io.askHidden ? undefined : await readPiped(io, names)
  return onScope(context, values, 'variables', async ({ platform, scope, signal }) => {
    const asked = piped ?? (await askFor(io, names, signal))
    if (!asked) return INTERRUPTED
    const variables = { ...ofFile.values, ...written, ...asked }
    io.secrets?.add(Object.values(variables))
    await platform.call('PATCH /variables/:scope', { params: { scope }, body: { variables } }, signal)
    const [only, ...others] = Object.keys(variables)
    const what = others.length === 0 ? only : plural(others.length + 1, 'variable')
    io.stdout.write(`Set ${what} for ${whose(scope)}\n`)
    return 0
  })
}

function splitWord(word: string): readonly [string, string] {
  const at = word.indexOf('=')
  return [word.slice(0, at), word.slice(at + 1)]
}

function warnOfHistory({ stderr }: Io, names: readonly string[]): void {
  for (const name of names.filter(looksSecretName))
    stderr.write(
      `warning: the value of \`${name}\` is now in the history of your shell; \`devctl variables set ${name}\` asks for it instead\n`,
    )
}

/**
 * Reads the value of a variable from standard input. Returns an object with the name and the value, or an empty object
 * if no name is given. Throws a UsageError for several names.
 */
async function readPiped(io: Io, [name, ...others]: readonly string[]): Promise<Readonly<Record<string, string>>> {
  if (name === undefined) return {}
  if (others.length > 0)
    throw new UsageError(`standard input has one value, but there are ${others.length + 1} names`, {
      hint: 'name one variable, or write them to a file and add `--file`',
    })
  return { [name]: requireValue(name, withoutLineBreak(await io.readStdin())) }
}

/** Asks the user for the values of variables. Returns undefined if the user cancels. */
async function askFor(
  { askHidden }: Io,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>> | undefined> {
  const values: Record<string, string> = {}
  for (const name of names) {
    const value = await askHidden?.(`Value of ${name}`, signal)
    if (value === undefined) return undefined
    values[name] = requireValue(name, value)
  }
  return values
}

function requireValue(name: string, value: string): string {
  if (value !== '') return value
  throw new UserError(`there is no value for \`${name}\``, { hint: `for an empty one, write \`${name}=\`` })
}

/** Removes variables. */
export function unsetVariables(context: Context, names: readonly string[], values: ScopeValues): Promise<number> {
  return onScope(context, values, 'variables', async ({ platform, scope, signal }) => {
    for (const name of names) {
      await platform.call('DELETE /variables/:scope/:name', { params: { scope, name } }, signal)
      context.io.stdout.write(`Removed ${name} for ${whose(scope)}\n`)
    }
    return 0
  })
}
