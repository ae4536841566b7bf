import { failureSummary, plural } from '../../compiler/diagnostics/render/summary.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { jsonText } from '../../compiler/values/printable.ts'
import { looksSecretName } from '../../compiler/values/secret-names.ts'
import { isPlatform } from '../../operations/contexts/store.ts'
import { findTarget, type Target } from '../../operations/contexts/target.ts'
import { agoText } from '../../operations/objects/ago.ts'
import type { Platform } from '../../operations/platform/connect-platform.ts'
import { checkVariableName, readVariablesFile } from '../../operations/platform/variables.ts'
import type { ShownVariable } from '../../platform/api/variables.ts'
import type { Context } from '../command.ts'
import { INTERRUPTED } from '../terminal/exit-status.ts'
import type { Io } from '../terminal/io.ts'
import { printDiagnostics } from '../terminal/report.ts'
import { toTable } from '../terminal/table.ts'
import { withDeadline } from './deadline.ts'

interface ScopeValues {
  readonly namespace: string | undefined
  readonly user: boolean
  readonly admin: boolean
  readonly context: string | undefined
  readonly timeout: number | undefined
}

/** Prints which variables there are; without an option of whom, all that count in the namespace, those that count most first. */
export function listVariables(
  context: Context,
  values: ScopeValues & { readonly output: 'json' | undefined },
): Promise<number> {
  const { io } = context
  return onPlatform(context, values, async ({ platform, scope, namespace, isChosen, signal }) => {
    const scopes = isChosen ? [scope] : [`namespace:${namespace}`, 'user', 'admin']
    const get = async (one: string) => {
      const { items } = await platform.call('GET /variables/:scope', { params: { scope: one } }, signal)
      return items.map(item => ({ ...item, scope: one }))
    }
    const found = (await Promise.all(scopes.map(get))).flat()
    if (values.output === 'json') io.stdout.write(`${jsonText(found.map(toRecord), 2)}\n`)
    else if (found.length > 0) io.stdout.write(toTable([['Name', 'For', 'Set', 'By'], ...found.map(toRow)]))
    else io.stderr.write(`there are no variables; \`devctl variables set NAME\` sets one\n`)
    return 0
  })
}

interface Found extends ShownVariable {
  readonly scope: string
}

const toRecord = ({ name, scope, set, by }: Found) => ({ name, scope, set, by: by.login })

const toRow = ({ name, scope, set, by }: Found) => [name, whose(scope), agoText(Date.now() - Date.parse(set)), by.login]

const whose = (scope: string): string =>
  scope === 'admin' ? 'everybody' : scope === 'user' ? 'you' : scope.replace(/^namespace:/, 'namespace ')

/** Sets variables: those of words (`NAME=VALUE`, or `NAME`, which is asked for or read), over those of a file. */
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
  return onPlatform(context, values, async ({ platform, scope, signal }) => {
    const asked = await askFor(io, names)
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
      `warning: the value of \`${name}\` is in the history of your shell now; \`devctl variables set ${name}\` asks for it\n`,
    )
}

/** Values that a person types, or standard input has; undefined when the person leaves. */
async function askFor(io: Io, names: readonly string[]): Promise<Readonly<Record<string, string>> | undefined> {
  const { askHidden } = io
  const [first, second] = names
  if (first === undefined) return {}
  if (!askHidden) {
    if (second !== undefined)
      throw new UsageError(`standard input has one value, and there are ${names.length} names`, {
        hint: 'name one variable, or write them to a file and add `--file`',
      })
    const text = new TextDecoder().decode(await io.readStdin()).replace(/\r?\n$/, '')
    return { [first]: requireValue(first, text) }
  }
  const values: Record<string, string> = {}
  for (const name of names) {
    const value = await askHidden(`Value of ${name}`)
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
  return onPlatform(context, values, async ({ platform, scope, signal }) => {
    for (const name of names) {
      await platform.call('DELETE /variables/:scope/:name', { params: { scope, name } }, signal)
      context.io.stdout.write(`Removed ${name} for ${whose(scope)}\n`)
    }
    return 0
  })
}

interface OnPlatform {
  readonly platform: Platform
  readonly namespace: string
  /** Whose variables they are. */
  readonly scope: string
  /** An option has said so. */
  readonly isChosen: boolean
  readonly signal: AbortSignal
}

async function onPlatform(
  { io }: Context,
  { namespace: wanted, user, admin, context, timeout }: ScopeValues,
  work: (on: OnPlatform) => Promise<number>,
): Promise<number> {
  const chosen = [wanted !== undefined && '--namespace', user && '--user', admin && '--admin'].filter(Boolean)
  if (chosen.length > 1) throw new UsageError(`\`${chosen.join('` and `')}\` cannot be combined`)
  const target = await findTarget(io, { context, namespace: wanted })
  if (!isPlatform(target.context)) throw needsPlatform(target)
  const { connectPlatform } = await import('../../operations/platform/connect-platform.ts')
  const platform = connectPlatform(target.context, target.stored.token, io.env)
  const { namespace } = target
  const scope = user ? 'user' : admin ? 'admin' : `namespace:${namespace}`
  const hint = 'is the platform running? `devctl variables list` shows what was done'
  return withDeadline(io, { timeout, hint }, signal =>
    work({ platform, namespace, scope, isChosen: chosen.length > 0, signal }),
  )
}

const needsPlatform = ({ context }: Target): UserError =>
  new UserError(`\`devctl variables\` needs the platform, which the cluster of \`${context}\` does not have`, {
    hint: 'set variables in the shell, in `.env` beside the Compose file, or with `--var`',
  })
