import { resolve } from 'node:path'
import { readFile } from '../../adapters/files/read-file.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Development } from '../../compiler/manifest/development.ts'
import { parseDotenv } from '../../compiler/text/dotenv.ts'
import { type At, SourceFile, shownPlace } from '../../compiler/text/source.ts'
import type { Workspace } from '../../project/workspace.ts'

/** A variable of the development container. */
export interface DevelopmentVariable {
  readonly name: string
  readonly value: string
}

/** Prefix of the variables that devctl sets itself. */
const RESERVED = 'DEVCTL_'

/**
 * Parses the variables of `--env`: `NAME=VALUE`, or `NAME` for the value on this machine. Throws a UsageError for a
 * text without a name, and for a name that is reserved for devctl.
 */
export function parseVariables(texts: readonly string[], env: Workspace['env']): readonly DevelopmentVariable[] {
  return texts.flatMap((text): readonly DevelopmentVariable[] => {
    const at = text.indexOf('=')
    const name = at < 0 ? text : text.slice(0, at)
    if (!/^[A-Za-z_][\w.-]*$/.test(name))
      throw new UsageError(`\`--env ${text}\` does not name a variable`, { hint: 'write `--env NAME=VALUE`' })
    if (name.startsWith(RESERVED) || name === 'BUILDKIT_HOST')
      throw new UsageError(`\`--env\` cannot set \`${name}\`, which devctl sets itself`)
    const value = at < 0 ? env[name] : text.slice(at + 1)
    if (value === undefined)
      throw new UsageError(`\`--env ${name}\`: the variable is not set on this machine`, {
        hint: `write its value: \`--env ${name}=VALUE\``,
      })
    return [{ name, value }]
  })
}

/** Variables of a development container, and the errors in its env files. */
export interface FoundVariables {
  readonly variables: readonly DevelopmentVariable[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Returns the variables of a development container. `--env` overrides `environment`, which overrides the env files. An
 * empty value in an env file stands for the value on this machine. Throws a UserError if a file cannot be read.
 */
export function variablesOf(
  { environment, envFiles }: Pick<Development, 'environment' | 'envFiles'>,
  given: readonly DevelopmentVariable[],
  folder: string,
  { env }: Pick<Workspace, 'env'>,
): FoundVariables {
  const reporter = new Reporter()
  const found = new Map<string, string>()
  for (const file of envFiles)
    for (const { name, value } of parseDotenv(sourceOf(file, folder), one => env[one], reporter)) {
      const own = value || env[name]
      if (own) found.set(name, own)
    }
  for (const { name, value } of [...environment, ...given]) found.set(name, value)
  const variables = [...found].map(([name, value]) => ({ name, value }))
  return { variables: variables.sort((a, b) => (a.name < b.name ? -1 : 1)), diagnostics: reporter.diagnostics() }
}

function sourceOf({ value: path, span }: At<string>, folder: string): SourceFile {
  const location = resolve(folder, path)
  const content = readFile(location)
  if (content.kind === 'file') return new SourceFile(path, new TextDecoder().decode(content.bytes), location)
  throw new UserError(`env file \`${path}\` cannot be read${content.kind === 'missing' ? ': it does not exist' : ''}`, {
    notes: [shownPlace(span)],
    hint: 'create it, or remove it from `envFiles`',
  })
}
