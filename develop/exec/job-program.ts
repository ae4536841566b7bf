import { randomBytes } from 'node:crypto'
import { unlessAborted } from '../../adapters/http/abort.ts'
import type { KubeconfigAccess } from '../../adapters/kubernetes/connection.ts'
import { isArgumentReference } from '../../compiler/values/dockerfile/argument-variables.ts'
import { quote } from '../../compiler/values/shell-words.ts'
import { TOOL } from '../../constructs/mirror/scripts.ts'
import { isTransientForPod } from '../retry-transient.ts'
import type { Polling } from '../session/polling.ts'
import type { Supervisor } from '../session/supervisor.ts'
import { CLEAR_EARLIER, endRuns, runVariables } from './marked-processes.ts'
import { inFolder, UNTIL_READY } from './run-command.ts'
import { runForLines } from './run-once.ts'

/** Program of a Job, run in the development container that replaces the Job. */
export interface JobProgram {
  readonly access: KubeconfigAccess
  readonly namespace: string
  /** Name of the development container. */
  readonly dev: string
  readonly container: string
  /** Program and arguments, which may include references to variables of the container. */
  readonly words: readonly string[]
  /** Folder in which the program runs; undefined for the working directory of the container. */
  readonly workdir?: string | undefined
  readonly polling: Polling
}

/** Callbacks for the output, the messages and the restarts of the program. */
export interface JobOptions {
  /** Called at the start of each run. The returned signal is aborted to end this run and start another one. */
  restart(): AbortSignal
  line(text: string): void
  /** Called with a message when a run has ended or has lost its connection. */
  note(text: string): void
}

/**
 * Runs the program of a Job once, without restarting it when it has ended. Then waits until another run is requested. A
 * run whose connection was lost is not repeated automatically, because a Job may do something that must not be done
 * twice; the requested run first ends it in the container. Rejects with the signal's abort reason.
 */
export async function runJob(
  { access, namespace, dev, container, words, workdir, polling }: JobProgram,
  supervisor: Supervisor,
  wishes: JobOptions,
  signal: AbortSignal,
): Promise<never> {
  const id = randomBytes(6).toString('hex')
  const again = `\`devctl restart ${dev}\` runs it again`
  for (let run = 1; ; run++) {
    const wished = wishes.restart()
    const { pod, lost } = await supervisor.untilReady(signal)
    const at = { access, namespace, pod, container }
    const variables = [...runVariables(`${id}-${run}`), ...polling.variables]
    const script = `${CLEAR_EARLIER}${UNTIL_READY}${inFolder}; exec ${words.map(shellWord).join(' ')}`
    const command = [TOOL, 'env', ...variables, TOOL, 'sh', '-c', script, 'sh', workdir ?? '.']
    const began = performance.now()
    let isLeft = false
    try {
      const status = await runForLines({ ...at, command }, AbortSignal.any([signal, lost, wished]), wishes.line)
      const seconds = ((performance.now() - began) / 1000).toFixed(1)
      wishes.note(`the Job has ended with status ${status} after ${seconds} s; ${again}`)
    } catch (error) {
      if (signal.aborted || wished.aborted) await endRuns(at)
      signal.throwIfAborted()
      if (wished.aborted) continue
      if (!lost.aborted && !isTransientForPod(error)) throw error
      wishes.note(`the connection to the Job was lost; ${again}`)
      isLeft = true
    }
    await unlessAborted(whenAborted(wished), signal).catch(async error => {
      if (isLeft) await endRuns(at)
      throw error
    })
  }
}

const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** Quotes an argument for a shell of the container; a variable reference becomes a shell variable. */
const shellWord = (word: string): string => (isArgumentReference(word) ? `"$${word.slice(2, -1)}"` : quote(word))
