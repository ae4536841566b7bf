import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach } from 'vitest'
import { eventually } from '../../support/cluster/cluster.ts'
import type { Program } from '../../support/cluster/program.ts'

// If a test fails, its report contains the output of its programs, and none of them is left running.

/** Program, and the arguments after `devctl`. */
export interface Started {
  readonly words: readonly string[]
  readonly program: Program
}

/** Folders and programs of a laptop, until it is cleared. */
export interface KeptLaptop {
  readonly folder: string
  readonly home: string
  readonly started: readonly Started[]
  /** Returns the processes of its programs, including those in the background. */
  processes(): readonly number[]
  start(words: readonly string[]): Program
}

/** Laptops whose tests are not over. */
export const laptops = new Set<KeptLaptop>()

/** State of a laptop when a test began. */
interface Before {
  readonly laptop: KeptLaptop
  readonly programs: number
  readonly processes: ReadonlySet<number>
}

let before: readonly Before[] = []

beforeEach(({ task }) => {
  // A program cannot be distinguished from those of tests that run at the same time.
  if (task.concurrent) return
  before = [...laptops].map(laptop => ({
    laptop,
    programs: laptop.started.length,
    processes: new Set(laptop.processes()),
  }))
})

afterEach(async ({ task }) => {
  const error = task.result?.state === 'fail' ? task.result.errors?.at(-1) : undefined
  if (task.concurrent || !error) return
  for (const { laptop, programs, processes } of before) {
    if (!laptops.has(laptop)) continue
    error.message += `\n${await reportOf(laptop, laptop.started.slice(programs))}`
    await endAll(laptop, processes)
  }
})

/** Returns the output of the programs and of `status`, and the logs of the sessions. */
async function reportOf(laptop: KeptLaptop, started: readonly Started[]): Promise<string> {
  const status = laptop.start(['status', '--all'])
  await Promise.race([status.status, sleep(20_000)])
  const programs = [...started, { words: ['status', '--all'], program: status }].map(({ words, program }) => {
    const { exitCode, signalCode } = program.process
    const said = [program.stdout, program.stderr].map(text => text.slice(-1500).trim()).filter(text => text !== '')
    return [`devctl ${words.join(' ')} (${exitCode ?? signalCode ?? 'running'})`, ...said]
  })
  const logs = readdirSync(laptop.home, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('up.log'))
    .map(path => [path, readFileSync(join(laptop.home, path), 'utf8').slice(-3000).trim()])
  return [...programs, ...logs].map(([title, ...texts]) => `--- ${title}\n${texts.join('\n')}`).join('\n')
}

/** Kills all processes except some, and waits until they have ended. */
export async function endAll(laptop: KeptLaptop, but: ReadonlySet<number> = new Set()): Promise<void> {
  for (const { program } of laptop.started) if (!but.has(program.process.pid!)) program.process.kill('SIGKILL')
  await eventually('all programs have ended', async () => {
    const left = laptop.processes().filter(one => !but.has(one))
    for (const one of left) end(one)
    return left.length === 0 || undefined
  })
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
