import { cpSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, type RunnerTestCase } from 'vitest'
import { eventually } from '../../support/cluster/cluster.ts'
import type { Program } from '../../support/cluster/program.ts'

// What a failed attempt of a test leaves on a laptop would be in the way of the next one.

/** A program, and the words after `devctl`. */
export interface Started {
  readonly words: readonly string[]
  readonly program: Program
}

/** What is known of a laptop until it is cleared. */
export interface KeptLaptop {
  readonly folder: string
  readonly home: string
  readonly started: readonly Started[]
  /** The processes of its programs, also of those that work in the background. */
  processes(): readonly number[]
  start(words: readonly string[]): Program
}

/** Those whose tests are not over. */
export const laptops = new Set<KeptLaptop>()

/** A laptop as it was when a test began. */
interface Before {
  readonly laptop: KeptLaptop
  readonly programs: number
  readonly processes: ReadonlySet<number>
  /** A copy of its folder, where nothing worked in that. */
  readonly copy: string | undefined
}

let before: readonly Before[] = []

beforeEach(({ task }) => {
  // Of tests that run at once, nobody knows which of them has started a program, or written a file.
  if (task.concurrent) return
  before = [...laptops].map(laptop => {
    const processes = new Set(laptop.processes())
    const copy = processes.size === 0 ? mkdtempSync(join(tmpdir(), 'devctl-before-')) : undefined
    if (copy !== undefined) copyFiles(laptop.folder, copy)
    return { laptop, programs: laptop.started.length, processes, copy }
  })
})

// A failure says what the programs of the test have said. None of them is left, and the files are as they were: another attempt
// begins as the first did.
afterEach(async ({ task }) => {
  if (task.concurrent) return
  const error = task.result?.state === 'fail' ? task.result.errors?.at(-1) : undefined
  for (const { laptop, programs, processes, copy } of before) {
    const failed = laptops.has(laptop) ? error : undefined
    if (failed) {
      const report = await reportOf(laptop, laptop.started.slice(programs))
      failed.message += `\n${report}`
      // Of an attempt that is followed by one that passes, only this is printed.
      if (isTriedAgain(task)) console.error(`${failed.name}: ${failed.message}`)
      await endAll(laptop, processes)
    }
    if (copy === undefined) continue
    if (failed) {
      for (const name of readdirSync(laptop.folder)) rmSync(join(laptop.folder, name), { recursive: true })
      copyFiles(copy, laptop.folder)
    }
    rmSync(copy, { recursive: true })
  }
})

const isTriedAgain = ({ retry = 0, result }: Pick<RunnerTestCase, 'retry' | 'result'>): boolean =>
  (result?.retryCount ?? 0) < (typeof retry === 'number' ? retry : (retry.count ?? 0))

/** All but sockets. */
function copyFiles(from: string, to: string): void {
  const isCopied = (path: string) => {
    const one = lstatSync(path)
    return one.isFile() || one.isDirectory() || one.isSymbolicLink()
  }
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter: isCopied })
}

/** What the programs have said, `status`, and the logs of the sessions. */
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

/** Kills what runs, but for some processes, and waits until it has ended. */
export async function endAll(laptop: KeptLaptop, but: ReadonlySet<number> = new Set()): Promise<void> {
  for (const { program } of laptop.started) if (!but.has(program.process.pid!)) program.process.kill('SIGKILL')
  await eventually('all programs have ended', 180, async () => {
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
