import { type Background, runShell } from '../adapters/process/run-shell.ts'
import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../compiler/diagnostics/reporter.ts'
import type { Span } from '../compiler/text/source.ts'
import { KnownSecrets, secretValues } from '../compiler/values/secrets/known-secrets.ts'
import { commandFailed, handedVariables, hintFor } from './command-diagnostics.ts'
import { HandedVariables } from './handed-variables.ts'

/** Command of the `deploy` or `destroy` section. */
export interface ManifestCommand {
  readonly name: string
  /** Shell script to run. */
  readonly command: string
  /**
   * Arguments of the script (`"$@"`): values from outside the manifest are passed here, so that the shell does not run
   * them as code.
   */
  readonly args?: readonly string[]
  /** Position in the manifest. */
  readonly span?: Span | undefined
}

export interface OutputLine {
  readonly command: ManifestCommand
  readonly stream: 'stdout' | 'stderr'
  /** Masked text of the line, without its line break. */
  readonly text: string
}

export interface RunOptions {
  /** Absolute path of the manifest's folder. */
  readonly folder: string
  /** Full environment, with the variables of `commandVariables` and of the labelling proxy. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Names of the variables that contain the path of the file for `NAME=value` lines. Default `DEVCTL_ENV`. */
  readonly envNames?: readonly string[]
  /** True to run `sh` instead of bash. Default false. */
  readonly noBash?: boolean
  /** Values that are masked in the output, in addition to those in `known`. */
  readonly secrets?: readonly string[]
  /** Secrets of the project and their names. */
  readonly known?: KnownSecrets | undefined
  /** True to keep colors in the output. Default false. */
  readonly colours?: boolean
  readonly signal?: AbortSignal | undefined
  /** Time between SIGTERM and SIGKILL, in milliseconds. Default 5000. */
  readonly grace?: number
  /** Time to wait for output of background processes after their shell has ended, in milliseconds. Default 500. */
  readonly drain?: number
  readonly begin?: (command: ManifestCommand) => void
  /** Called for each line. If it returns a promise, the next line is read after the promise resolves. */
  readonly output: (line: OutputLine) => unknown
}

export interface RunResult {
  /**
   * Command that failed, with its exit status or signal; undefined if all commands succeeded. The commands after it did
   * not run.
   */
  readonly failed:
    | { readonly command: ManifestCommand; readonly exitCode: number | null; readonly signal: string | null }
    | undefined
  /** Variables that commands passed on through the file of `DEVCTL_ENV`. */
  readonly variables: Readonly<Record<string, string>>
  /** Diagnostic `deploy/command-failed` if a command failed, and warnings. */
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Runs commands in sequence, each in a new shell in the folder, until one fails. Background processes keep running for
 * the later commands and are stopped at the end. Rejects with the signal's abort reason, or with a UserError if the
 * shell or the folder does not exist; all processes are stopped in these cases, too.
 */
export async function runCommands(commands: readonly ManifestCommand[], options: RunOptions): Promise<RunResult> {
  const { env, secrets = [], known = new KnownSecrets(), grace = 5_000, drain = 500, signal, output } = options
  const reporter = new Reporter()
  const background: Background[] = []
  const handed = new HandedVariables()
  const paths = Object.fromEntries((options.envNames ?? ['DEVCTL_ENV']).map(name => [name, handed.path]))
  let failed: RunResult['failed']
  try {
    for (const command of commands) {
      const own = { ...env, ...handed.values, ...paths }
      const all = known.with([...secrets, ...secretValues(handed.values)])
      options.begin?.(command)
      const ended = await runShell(command.command, {
        folder: options.folder,
        ...(command.args && { args: command.args }),
        env: own,
        noBash: options.noBash ?? false,
        masker: all.outputMasker,
        colours: options.colours ?? false,
        signal,
        grace,
        drain,
        line: (stream, text) => output({ command, stream, text }),
      })
      if (ended.background) background.push(ended.background)
      const name = all.mask(command.name)
      for (const problem of handed.read(own))
        reporter.report(handedVariables, command.span, { name, problem: all.mask(problem) })
      const { exitCode, signal: killer } = ended
      if (exitCode === 0) continue
      failed = { command, exitCode, signal: killer }
      reporter.report(commandFailed, command.span, { name, exitCode, signal: killer, hint: hintFor(exitCode, killer) })
      break
    }
  } finally {
    await Promise.all(background.map(one => one.end()))
    handed.remove()
  }
  return { failed, variables: handed.values, diagnostics: reporter.diagnostics() }
}
