import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { CompilerHost } from '../host.ts'
import { parseDotenv } from '../syntax/dotenv.ts'
import type { Span } from '../syntax/source.ts'
import type { MapTree } from '../syntax/tree.ts'
import type { Sources } from './sources.ts'

export interface Variable {
  readonly value: string
  /** In words: `the shell`, `.env:3`, `the platform`. */
  readonly origin: string
}

/**
 * The variables that a project's files may use, highest first: what devctl sets itself (COMPOSE_PROJECT_NAME), the shell, `.env` files, the platform
 * (specification, "Variable resolution in Compose files").
 */
export class VariableScope {
  readonly #host: CompilerHost
  readonly #set: ReadonlyMap<string, string>
  readonly #files: ReadonlyMap<string, Variable>
  /** The projects that were included by files with this scope, by their files, folder and env files (project/include.ts). */
  readonly included = new Map<string, { readonly model: MapTree | undefined }>()

  constructor(
    host: CompilerHost,
    set: ReadonlyMap<string, string> = new Map(),
    files: ReadonlyMap<string, Variable> = new Map(),
  ) {
    this.#host = host
    this.#set = set
    this.#files = files
  }

  /** The value of a variable and where it came from. */
  lookup = (name: string): Variable | undefined => {
    const set = this.#set.get(name)
    if (set !== undefined) return { value: set, origin: 'the project' }
    const shell = this.#host.environment.get(name)
    if (shell !== undefined) return { value: shell, origin: 'the shell' }
    const file = this.#files.get(name)
    if (file !== undefined) return file
    const other = this.#host.variable(name)
    return other && { value: other.value, origin: other.source === 'platform' ? 'the platform' : 'the shell' }
  }

  /** The same with a variable set above all others. */
  with(name: string, value: string): VariableScope {
    return new VariableScope(this.#host, new Map(this.#set).set(name, value), this.#files)
  }

  /** The same with the variables of more env files, below those it has. Unreadable files are reported. */
  withFiles(paths: readonly EnvFilePath[], sources: Sources, reporter: Reporter): VariableScope {
    if (paths.length === 0) return this
    const read = new Map<string, Variable>()
    for (const { path, span } of paths) {
      const file = sources.open(path, 'the env file', reporter, span)
      if (!file) continue
      // Names from the outside win, also inside the file (compose-spec 1.3).
      const outside = (name: string) => this.lookup(name)?.value
      const earlier = (name: string) => read.get(name)?.value
      for (const entry of parseDotenv(file, outside, reporter, { earlier })) {
        const { line } = file.position(entry.span.start)
        read.set(entry.name, { value: entry.value, origin: `${file.path}:${line}` })
      }
    }
    for (const [name, variable] of this.#files) read.set(name, variable)
    return new VariableScope(this.#host, this.#set, read)
  }
}

export interface EnvFilePath {
  readonly path: string
  readonly span?: Span
}

export const badEnvironmentFlag = diagnostic({
  code: 'files/bad-environment-flag',
  severity: 'error',
  explain: '`COMPOSE_DISABLE_ENV_FILE` takes `true` or `false` (or `1`, `0`, `t`, `f`).',
  text: (p: { name: string }) => ({ message: `the environment variable \`${p.name}\` is neither true nor false` }),
})
