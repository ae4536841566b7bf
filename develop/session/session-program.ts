import { randomBytes } from 'node:crypto'
import { unlessAborted } from '../../adapters/http/abort.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { runJob } from '../exec/job-program.ts'
import { runHere } from '../exec/local-command.ts'
import { isShell } from '../exec/own-command.ts'
import { restartProgram } from '../exec/restart-program.ts'
import { type RunCommandOptions, runCommand } from '../exec/run-command.ts'
import { passOutput } from '../exec/service-output.ts'
import type { PreparedMirror } from '../mirror/prepare-mirror.ts'
import type { FoundDevelopment } from '../select/find-development.ts'
import type { UpContext, UpInput } from '../up-input.ts'
import type { Polling } from './polling.ts'
import type { Supervisor } from './supervisor.ts'

/** Container whose program is run, and the supervisor that keeps it connected. */
export interface ProgramOf {
  readonly input: UpInput
  readonly found: FoundDevelopment
  readonly prepared: PreparedMirror
  readonly supervisor: Supervisor
  readonly polling: Polling
  /** Aborted when the session ends. */
  readonly signal: AbortSignal
}

/**
 * Program of a session: the command of `up`, run in the container or on this machine, or the container's own program,
 * whose output is shown.
 */
export class SessionProgram {
  readonly #world: UpContext
  readonly #of: ProgramOf
  readonly #command: readonly string[]
  #again = new AbortController()

  constructor(world: UpContext, of: ProgramOf) {
    this.#world = world
    this.#of = of
    this.#command = of.input.command ?? of.found.development.command ?? ['sh']
  }

  /** Runs the program until it ends and returns its exit status. */
  run(): Promise<number> {
    const { session, on, terminal, workspace } = this.#world
    const { access, cluster, namespace } = session
    const { input, found, prepared, supervisor, polling, signal } = this.#of
    const { development, folder, named = new Set<string>() } = found
    const { container, runs } = prepared
    const dev = development.name
    const command = this.#command
    const wishes: RunCommandOptions = {
      restart: () => {
        this.#again = new AbortController()
        return this.#again.signal
      },
      again: reason => on({ type: 'note', text: reason }),
    }
    if (development.mode === 'hybrid') {
      const onLeftOut = (names: readonly string[]) =>
        on({
          type: 'note',
          text: `not taken over from the container, where others can change them: ${names.map(one => `\`${one.slice(0, 100)}\``).join(', ')}; name those that the command needs in \`variables\` of the manifest, or set them with \`environment\`, \`envFiles\` or \`--env\``,
        })
      const own = prepared.take.settings.environment
      const local = { access, namespace, container, command, development, folder, own, named, onLeftOut }
      return runHere(local, supervisor, terminal, workspace, { wishes, signal })
    }
    if (prepared.once) {
      const job = {
        access,
        namespace,
        dev,
        container,
        words: prepared.once,
        workdir: development.workdir?.value,
        polling,
      }
      const line = (text: string) => on({ type: 'output', command: dev, stream: 'stdout', text })
      return runJob(job, supervisor, { restart: wishes.restart, line, note: wishes.again }, signal)
    }
    // A shell without a terminal would exit at once.
    if (runs === 'hold' && input.detached) return unlessAborted(new Promise<never>(() => {}), signal)
    if (runs === 'command')
      return passOutput(supervisor, { cluster, namespace, container }, signal, {
        line: text => on({ type: 'output', command: dev, stream: 'stdout', text }),
        ended: text => on({ type: 'note', text }),
      })
    const id = randomBytes(6).toString('hex')
    const workdir = development.workdir?.value
    const running = { access, cluster, namespace, dev, container, command, workdir, polling, id }
    return runCommand(supervisor, { ...running, interrupted: session.signal }, terminal, wishes, signal)
  }

  /** Restarts the program as `restart` does. Throws a UserError at once if the container is not connected. */
  async restartNow(signal: AbortSignal): Promise<void> {
    const { name } = this.#of.found.development
    if (this.#isOwnProgram && !this.#of.supervisor.ready)
      throw new UserError(`\`${name}\` is not connected, so its program cannot be restarted`, {
        hint: `try again when \`devctl status ${name}\` shows that it is`,
      })
    await this.restart(signal)
  }

  /** True if process 1 of the container runs the program. */
  get #isOwnProgram(): boolean {
    const { found, prepared } = this.#of
    return prepared.runs === 'command' && found.development.mode === 'sync'
  }

  /** Ends the program and starts it again. Throws a UserError for an interactive shell. */
  async restart(signal: AbortSignal): Promise<void> {
    const { found, prepared, supervisor } = this.#of
    const { name } = found.development
    if (this.#isOwnProgram) {
      const { pod } = await supervisor.untilReady(signal)
      return restartProgram(this.#world.session, pod, prepared.container, signal)
    }
    if (!prepared.once && isShell(this.#command))
      throw new UserError(`\`${name}\` runs \`${this.#command.join(' ')}\`, and no program to restart`, {
        hint: 'write the program as `command` of the development container, or behind `--`',
      })
    this.#again.abort(new Error('it is restarted'))
  }
}
