import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Access } from '../../adapters/kubernetes/connection.ts'
import { type ExecProcess, openExec } from '../../adapters/kubernetes/exec.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { TOOL } from '../../constructs/mirror/scripts.ts'
import { TEMPORARY } from '../../sync/stage/writer.ts'
import { runOnce } from '../exec/run-once.ts'

/** A folder that two containers of a Pod share, with its path in each container. */
export interface SharedFolder {
  readonly pod: string
  readonly namespace: string
  /** Path in the agent's container, which has Node.js. */
  readonly agent: { readonly container: string; readonly path: string }
  readonly own: { readonly container: string; readonly path: string }
}

/** Timeouts for an event to arrive after a write, and for the full check, in milliseconds. */
const EVENT = 2000
const LIMIT = 20_000
/** Exit statuses of the watching process: event seen, or ended at the limit. */
const [SEEN, ENDED] = [0, 5]

/** Name of the probe file, which is not synchronized. */
const PROBE = `${TEMPORARY}probe`

const WATCH = `
const { argv: [, folder], exit, stdout } = process
require('node:fs').watch(folder, (_, name) => name === '${PROBE}' && exit(${SEEN}))
setTimeout(() => exit(${ENDED}), ${LIMIT})
stdout.write('ready')
`

/**
 * Returns the command that watches a folder. The command prints a text as soon as it is watching. It ends when it sees
 * the probe, or after a time limit.
 */
export const watcher = (folder: string): readonly [string, ...string[]] => ['node', '-e', WATCH, folder]

/**
 * Returns true if the watching process sees the probe that `write` creates, and false if it does not see the probe in
 * time. Returns undefined if `write` fails (resolves to a number other than 0), or if the process ends for another
 * reason. Rejects with the signal's abort reason.
 */
export async function eventArrives(
  { stdout, stderr, exit }: Pick<ExecProcess, 'stdout' | 'stderr' | 'exit'>,
  write: () => Promise<number>,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  stderr.resume()
  await Promise.race([once(stdout, 'data'), exit])
  if ((await write()) !== 0) return undefined
  // The time begins after the write, whose connection may take longer than an event.
  const status = await Promise.race([exit, sleep(EVENT, 'unseen' as const, { signal })])
  if (status === 'unseen') return false
  return status === SEEN ? true : undefined
}

/**
 * Returns true if a container receives events for files that another container of its Pod writes; some sandboxes, such
 * as gVisor, do not forward them. Returns undefined if this cannot be determined; never rejects.
 */
export async function fileEventsCross(
  access: Access,
  { pod, namespace, agent, own }: SharedFolder,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const limit = withTimeLimit(LIMIT, signal)
  let watching: ExecProcess | undefined
  try {
    const target = { pod, namespace, container: agent.container, command: watcher(agent.path), stdin: false }
    watching = await openExec(access, target, { signal: limit })
    const touch = `: > "$1/${PROBE}" || exit 1; "$0" rm -f "$1/${PROBE}"`
    const words = [TOOL, 'sh', '-c', touch, TOOL, own.path]
    const writing = { access, namespace, pod: { metadata: { name: pod } }, container: own.container, command: words }
    return await eventArrives(watching, () => runOnce(writing, limit), limit)
  } catch {
    return undefined
  } finally {
    watching?.destroy()
  }
}
