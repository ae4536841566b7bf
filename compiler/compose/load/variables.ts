import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import type { CompilerHost, HostVariable } from '../../host.ts'
import { type DotenvEntry, parseDotenv } from '../../text/dotenv.ts'
import { SecretPlaces } from '../../text/secret-places.ts'
import type { Span } from '../../text/source.ts'
import type { MapTree } from '../../text/tree.ts'
import { isVariableWithSecret } from '../../values/secrets/secret-names.ts'
import { isTokenVariable } from '../../values/secrets/token-variables.ts'
import type { Sources } from './compose-files/sources.ts'

/** The value of a variable. */
export interface Variable {
  readonly value: string
  /** Source of the value, for messages: `the shell`, `.env:3`, `the platform`. */
  readonly origin: string
  /** Set if the value is secret, because of its name or origin. */
  readonly isSecret?: true
}

/** The origin of shell variables, which include variables from `--var`. */
export const FROM_SHELL = 'the shell'

/**
 * The variables that a project's files may use. Precedence, highest first: variables that devctl sets
 * (COMPOSE_PROJECT_NAME), the shell, `.env` files, the platform.
 */
export class VariableScope {
  readonly #host: CompilerHost
  readonly #set: ReadonlyMap<string, string>
  readonly #files: ReadonlyMap<string, Variable>
  /** The known secret values and their positions. */
  readonly secrets: SecretPlaces
  /**
   * Projects that files with this scope have included. The key consists of the files, the folder and the env files of a
   * project (`include.ts`).
   */
  readonly included = new Map<string, { readonly model: MapTree | undefined }>()

  constructor(
    host: CompilerHost,
    set: ReadonlyMap<string, string> = new Map(),
    files: ReadonlyMap<string, Variable> = new Map(),
    secrets = new SecretPlaces(),
  ) {
    this.#host = host
    this.#set = set
    this.#files = files
    this.secrets = secrets
  }

  /**
   * Looks up a variable. Returns undefined if it is not set. Returns an empty value for a devctl token; the caller
   * reports the use of the token.
   */
  lookup = (name: string): Variable | undefined => {
    if (isTokenVariable(name)) return { value: '', origin: 'devctl' }
    const found = this.#find(name)
    if (found?.isSecret) this.secrets.addValue(found.value)
    return found
  }

  #find(name: string): Variable | undefined {
    const set = this.#set.get(name)
    if (set !== undefined) return { value: set, origin: 'the project' }
    const shell = this.#host.environment.get(name)
    if (shell !== undefined) return this.#outside(name, { value: shell, source: 'shell' })
    const file = this.#files.get(name)
    if (file !== undefined) return file
    const other = this.#host.variable(name)
    return other && this.#outside(name, other)
  }

  /** Returns a variable of the shell (including `--var`) or of the platform. */
  #outside(name: string, { value, source }: HostVariable): Variable {
    const isSecret = source === 'platform' || this.#host.secretVariables?.has(name) || isVariableWithSecret(name, value)
    return { value, origin: source === 'platform' ? 'the platform' : FROM_SHELL, ...(isSecret && { isSecret: true }) }
  }

  /** Returns a copy with a variable that takes precedence over all others. */
  with(name: string, value: string): VariableScope {
    return new VariableScope(this.#host, new Map(this.#set).set(name, value), this.#files, this.secrets)
  }

  /**
   * Returns a copy with the variables of more env files, which have a lower precedence than the existing variables.
   * Reports unreadable files.
   */
  withFiles(paths: readonly EnvFilePath[], sources: Sources, reporter: Reporter): VariableScope {
    if (paths.length === 0) return this
    const read = new Map<string, Variable>()
    for (const { path, span } of paths) {
      const file = sources.open(path, 'the env file', reporter, span)
      if (!file) continue
      sources.addVariableFile(path)
      // Variables with a higher precedence also win in expressions within the file.
      const outside = (name: string) => this.lookup(name)?.value
      const earlier = (name: string) => read.get(name)?.value
      for (const entry of parseDotenv(file, outside, reporter, { earlier })) {
        const { line } = file.position(entry.span.start)
        const isSecret = isSecretEntry(entry, name => (this.lookup(name) ?? read.get(name))?.isSecret ?? false)
        if (isSecret) this.secrets.addValue(entry.value)
        if (isSecret && !entry.inherited && !entry.variables?.length) reporter.hide(entry.span)
        read.set(entry.name, {
          value: entry.value,
          origin: `${file.path}:${line}`,
          ...(isSecret && { isSecret: true }),
        })
      }
    }
    for (const [name, variable] of this.#files) read.set(name, variable)
    return new VariableScope(this.#host, this.#set, read, this.secrets)
  }
}

/** True if an entry of an env file is secret, because of its name or a variable in its value. */
export function isSecretEntry(
  { name, value, inherited, variables = inherited ? [name] : [] }: DotenvEntry,
  isSecret: (name: string) => boolean,
): boolean {
  return isVariableWithSecret(name, value) || variables.some(isSecret)
}

/** An env file, and the position of its reference, if any. */
export interface EnvFilePath {
  readonly path: string
  readonly span?: Span
}

export const badEnvironmentFlag = diagnostic({
  code: 'files/bad-environment-flag',
  severity: 'error',
  explain: '`COMPOSE_DISABLE_ENV_FILE` takes `true` or `false` (or `1`, `0`, `t`, `f`).',
  text: (p: { name: string }) => ({
    message: `the environment variable \`${p.name}\` is neither \`true\` nor \`false\``,
  }),
})
