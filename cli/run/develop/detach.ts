import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { unlessAborted } from '../../../adapters/http/abort.ts'
import type { OperationEvent } from '../../../api/events.ts'
import {
  type DevelopmentInput,
  namedDevelopments,
  type SeveralInput,
} from '../../../develop/select/find-development.ts'
import { refuseSecond, sessionKey } from '../../../develop/session/ask.ts'
import { sessionFolder } from '../../../develop/session/session-folder.ts'
import { printNames } from '../../../develop/up.ts'
import { stateHome } from '../../../project/contexts/home.ts'
import type { OpenProject } from '../../../project/opened-project.ts'
import type { OperationContext } from '../../../project/session.ts'
import type { UpValues } from '../../commands/up.ts'
import type { Io } from '../../terminal/io.ts'
import { ownCommand } from '../../terminal/own-command.ts'

/** Variable that marks a process as the background process. */
const DETACHED = 'DEVCTL_DETACHED'
/**
 * Variable that passes the values of `--env` to the background process, because every user of this machine can read its
 * command line.
 */
const VARIABLES = 'DEVCTL_DETACHED_ENV'

/** A message from the background process to the process that started it. */
interface Told {
  /** Development container; absent if the event concerns no particular one. */
  readonly dev?: string
  readonly event: OperationEvent
}

/**
 * Receives the events of sessions. `dev` is the name of the development container, if the event concerns a particular
 * one.
 */
type OnEvent = (event: OperationEvent, dev?: string) => void

interface DetachWorld extends Pick<OperationContext, 'session'> {
  readonly workspace: Io
  readonly on: OnEvent
}

/** True if this is the background process. */
export const isInBackground = ({ env }: Pick<Io, 'env'>): boolean => env[DETACHED] === '1'

/**
 * Returns the options of `up`. In the background process, adds the values of `--env` that the starting process has
 * passed.
 */
export function inBackground<Options extends Pick<UpValues, 'env'>>(io: Pick<Io, 'env'>, options: Options): Options {
  const text = isInBackground(io) ? io.env[VARIABLES] : undefined
  return text === undefined ? options : { ...options, env: JSON.parse(text) as readonly string[] } // of this program
}

/** Passes an event to the process that started this background process, while that process is still waiting. */
export function tellStarter(io: Pick<Io, 'env'>, event: OperationEvent, dev: string | undefined): void {
  if (!isInBackground(io) || !process.connected) return
  const told = toldOf(event, dev)
  // The other process may just have exited.
  if (told) process.send?.(told, undefined, {}, () => {})
}

/** Returns the message about an event; undefined if the starting process does not need the event. */
export function toldOf(event: OperationEvent, dev: string | undefined): Told | undefined {
  // Statuses without `dev` come from a deploy and concern other services.
  if (dev === undefined) return TOLD_OF_ALL.has(event.type) ? { event } : undefined
  if (event.type === 'session-ended' && event.end.kind === 'failed')
    // JSON does not contain the message of an Error.
    return { dev, event: { type: 'status', service: dev, state: 'failed', text: event.end.error.message } }
  return TOLD.has(event.type) ? { dev, event } : undefined
}

const TOLD_OF_ALL: ReadonlySet<OperationEvent['type']> = new Set(['compiled', 'step', 'note', 'warning'])

const TOLD: ReadonlySet<OperationEvent['type']> = new Set([
  ...TOLD_OF_ALL,
  'status',
  'session-ended',
  'taken',
  'sync',
  'forwards',
  'sync-stopped',
  'sync-problem',
  'sync-conflict',
  'sync-large',
  'sync-tool-file',
  'sync-deleted',
  'sync-continued',
  'sync-full',
  'sync-room',
])

/** State of a development container whose background process need not be waited for any longer. */
type DetachedState = 'ready' | 'failed' | 'ended'

/** Returns the state of a development container after an event; undefined if the event does not change it. */
export function stateAfter(event: OperationEvent, dev: string): DetachedState | undefined {
  if (event.type === 'session-ended') return 'ended'
  if (event.type !== 'status' || event.service !== dev) return undefined
  return event.state === 'ready' || event.state === 'failed' ? event.state : undefined
}

/**
 * True if each development container has a state and the background process continues. If all of them have ended, the
 * process also ends, and its exit status counts.
 */
export const isSettled = (devs: readonly string[], states: ReadonlyMap<string, DetachedState>): boolean =>
  devs.every(dev => states.has(dev)) && devs.some(dev => states.get(dev) !== 'ended')

/**
 * Starts this command line again in the background, and waits until the sessions of the background process are ready.
 * Reports the events of the sessions during that time. If the background process ends first, prints its output and
 * returns its exit status.
 */
export async function startInBackground(
  { workspace: io, session, on }: DetachWorld,
  input: Omit<DevelopmentInput, 'dev'> & SeveralInput & Pick<UpValues, 'env'>,
  project: OpenProject,
): Promise<number> {
  const devs = await namedDevelopments({ workspace: io, on }, input, project)
  // Checked first, because the output of a running session would be overwritten.
  await Promise.all(devs.map(dev => refuseSecond({ workspace: io, session }, dev)))
  const folder = sessionFolder(stateHome(io), sessionKey(session, devs[0]!))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, 'up.out')
  const output = openSync(path, 'w', 0o600)
  const [, , ...words] = process.argv
  const { command, args } = ownCommand() ?? { command: 'devctl', args: [] }
  const isNamed = input.all || (input.devs?.length ?? 0) > 0
  const child = spawn(command, [...args, ...wordsInBackground(words, isNamed ? [] : devs)], {
    cwd: io.cwd,
    env: { ...io.env, [DETACHED]: '1', [VARIABLES]: JSON.stringify(input.env ?? []) },
    detached: true,
    stdio: ['ignore', output, output, 'ipc'],
  })
  closeSync(output)
  const states = new Map<string, DetachedState>()
  const settled = new Promise<'settled'>(resolve =>
    child.on('message', message => {
      const { dev, event } = message as Told // of this program
      on(event, dev)
      const state = dev === undefined ? undefined : stateAfter(event, dev)
      if (state !== undefined) states.set(dev!, state)
      if (isSettled(devs, states)) resolve('settled')
    }),
  )
  const ended = new Promise<number>(resolve => {
    child.on('error', () => resolve(1))
    child.on('exit', status => resolve(status ?? 1))
  })
  const first = await unlessAborted(Promise.race([settled, ended]), session.signal).catch(error => {
    child.kill('SIGTERM')
    throw error
  })
  if (first !== 'settled') {
    io.stderr.write(readFileSync(path, 'utf8'))
    return first
  }
  child.disconnect()
  child.unref()
  const inSync = devs.filter(dev => states.get(dev) === 'ready')
  const failed = devs.filter(dev => states.get(dev) === 'failed')
  if (inSync.length > 0)
    io.stderr.write(
      `${printNames(inSync)} in sync, in the background; \`devctl down ${inSync.join(' ')}\` ${inSync.length > 1 ? 'ends them and restores the originals' : 'ends it and restores the original'}\n`,
    )
  if (failed.length > 0) io.stderr.write(`${printNames(failed)} not; ${path} says more\n`)
  return failed.length > 0 ? 1 : 0
}

/**
 * Returns the arguments of `up` for the background process: without `--detach`; without the values of `--env`, which
 * are passed separately; and with the names that the user chose at the terminal. Arguments for the container, after
 * `--`, are unchanged.
 */
export function wordsInBackground(words: readonly string[], names: readonly string[]): readonly string[] {
  const end = words.includes('--') ? words.indexOf('--') : words.length
  const kept: string[] = []
  for (let at = 0; at < end; at++) {
    const word = words[at]!
    if (word === '--env') at++
    else if (word === '--command') kept.push(word, words[++at]!)
    else if (word !== '--detach' && !word.startsWith('--env=')) kept.push(word)
  }
  return [...kept, ...names, ...words.slice(end)]
}
