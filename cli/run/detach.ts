import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { devctlHome } from '../../operations/contexts/home.ts'
import { reportOf, sessionKey } from '../../operations/develop/ask.ts'
import type { SessionReport } from '../../operations/develop/control/messages.ts'
import { type DevelopmentInput, findDevelopment } from '../../operations/develop/find-development.ts'
import { sessionFolder } from '../../operations/develop/session-folder.ts'
import type { OpenProject } from '../../operations/project/opened-project.ts'
import type { World } from '../../operations/session.ts'
import type { Io } from '../terminal/io.ts'

/** The variable by which a process knows that it is the one in the background. */
export const DETACHED = 'DEVCTL_DETACHED'

/** Milliseconds between two looks at the process in the background. */
const EVERY = 100

interface DetachWorld extends Pick<World, 'session' | 'on'> {
  readonly workspace: Io
}

const stateOf = ({ state }: SessionReport) => (state === 'ready' ? 'ready' : 'waiting')

/**
 * Starts this command line again in the background, and waits until its session is ready; its
 * states are told as events. Gives its exit status if it ends before, having printed what it said.
 */
export async function startInBackground(
  world: DetachWorld,
  input: DevelopmentInput,
  project: OpenProject,
): Promise<number> {
  const { workspace: io, session, on } = world
  const { development } = await findDevelopment(world, input, project)
  const dev = development.name
  const folder = sessionFolder(devctlHome(io), sessionKey(session, dev))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, 'up.out')
  const output = openSync(path, 'w', 0o600)
  const [, program = '', ...words] = process.argv
  const child = spawn(process.execPath, [program, ...words.filter(one => one !== '--detach')], {
    cwd: io.cwd,
    env: { ...io.env, [DETACHED]: '1' },
    detached: true,
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  let ended: number | undefined
  child.on('error', () => {
    ended = 1
  })
  child.on('exit', status => {
    ended = status ?? 1
  })
  for (;;) {
    if (ended !== undefined) {
      io.stderr.write(readFileSync(path, 'utf8'))
      return ended
    }
    const report = await reportOf({ workspace: io, session }, dev)
    if (report) on({ type: 'status', service: dev, state: stateOf(report), text: report.text || report.state })
    if (report?.state === 'ready') break
    await sleep(EVERY, undefined, { signal: session.signal }).catch(error => {
      child.kill('SIGTERM')
      throw error
    })
  }
  child.unref()
  io.stderr.write(`${dev} is in sync, in the background; \`devctl down ${dev}\` ends it and restores the original\n`)
  return 0
}
