import { type Background, runShell } from '../../adapters/process/run-shell.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import type { Span } from '../../compiler/text/source.ts'
import { KnownSecrets, secretValues } from '../../compiler/values/secrets/known-secrets.ts'
import { commandFailed, handedVariables, hintFor } from './command-diagnostics.ts'
import { HandedVariables } from './handed-variables.ts'

/** A command of the `deploy` or `destroy` section. */
export interface ManifestCommand {
  readonly name: string
  /** A text for the shell. */
  readonly command: string
  /** The arguments of the text, `"$@"`: what comes from elsewhere is no code of the shell. */
  readonly args?: readonly string[]
  /** Position in the manifest. */
  readonly span?: Span | undefined
}

export interface OutputLine {
  readonly command: ManifestCommand
  readonly stream: 'stdout' | 'stderr'
  /** Masked, without its end. */
  readonly text: string
}

export interface RunOptions {
  /** Absolute path: the folder of the manifest. */
  readonly folder: string
  /**
   * All of the environment, with the variables of `commandVariables` and those of the labelling
   * proxy.
   */
  readonly env: Readonly<Record<string, string | undefined>>
  /** `sh` in place of bash. Default false. */
  readonly noBash?: boolean
  /** Values that never reach the output, besides those that are `known`. */
  readonly secrets?: readonly string[]
  /** The secrets and names of the project. */
  readonly known?: KnownSecrets | undefined
  /** Keep colours in the output. Default false. */
  readonly colours?: boolean
  readonly signal?: AbortSignal | undefined
  /** Milliseconds between SIGTERM and SIGKILL. Default 5000. */
  readonly grace?: number
  /**
   * Milliseconds that output of background processes is waited for after their shell has ended.
   * Default 500.
   */
  readonly drain?: number
  readonly begin?: (command: ManifestCommand) => void
  /** Output is not read on until its promise is kept. */
  readonly output: (line: OutputLine) => unknown
}

export interface RunResult {
  /** The command that failed; those after it did not run. */
  readonly failed:
    | { readonly command: ManifestCommand; readonly exitCode: number | null; readonly signal: string | null }
    | undefined
  /** The variables that commands handed on through the file of `DEVCTL_ENV`. */
  readonly variables: Readonly<Record<string, string>>
  /** `deploy/command-failed`, and warnings. */
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Runs commands one after another, each in a shell of its own in the folder, until one fails. What
 * they leave in the background stays for the commands after them, and is ended at the end. Rejects
 * with the signal's reason when that is aborted, with a UserError when there is no shell or no
 * folder; then, too, nothing is left running.
 */
export async function runCommands(commands: readonly ManifestCommand[], options: RunOptions): Promise<RunResult> {
  const { env, secrets = [], known = new KnownSecrets(), grace = 5_000, drain = 500, signal, output } = options
  const reporter = new Reporter()
  const background: Background[] = []
  const handed = new HandedVariables()
  let failed: RunResult['failed']
  try {
    for (const command of commands) {
      const own = { ...env, ...handed.values, DEVCTL_ENV: handed.path }
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
