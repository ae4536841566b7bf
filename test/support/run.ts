import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { main } from '../../cli/main.ts'
import type { Io } from '../../cli/terminal/io.ts'
import type { Case } from './cases.ts'

export interface Result {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command line in this process, in a folder, with nothing of this machine's environment. */
export async function run(
  argv: readonly string[],
  {
    cwd,
    env = {},
    stdin = '',
    choose,
  }: { cwd: string; env?: Readonly<Record<string, string>>; stdin?: string; choose?: Io['choose'] },
): Promise<Result> {
  const written = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr') => ({
    isTTY: false,
    write: (text: string) => {
      written[name] += text
    },
  })
  const status = await main([...argv], {
    stdout: output('stdout'),
    stderr: output('stderr'),
    readStdin: async () => new TextEncoder().encode(stdin),
    env,
    cwd,
    ...(choose && { choose }),
  })
  return { status, ...written }
}

/** Runs a case as its options.yml says. */
export async function runCase(one: Case): Promise<Result> {
  const go = (cwd: string) => run([one.command, ...one.args], { cwd, env: one.env, stdin: one.stdin })
  return one.checkout === undefined ? go(one.directory) : inCopy(one, go)
}

async function inCopy<T>(one: Case, go: (folder: string) => Promise<T>): Promise<T> {
  const temporary = mkdtempSync(join(tmpdir(), 'devctl-golden-'))
  try {
    const folder = join(temporary, basename(one.directory))
    copyCase(one, folder)
    return await go(folder)
  } finally {
    rmSync(temporary, { recursive: true })
  }
}

/**
 * Copies what a user would have of a case's files to a folder, and makes it a git checkout unless the case is to be in
 * none.
 */
export function copyCase({ directory, checkout = {} }: Case, folder: string): void {
  const own = new Set(['expected', 'diagnostics.txt', 'options.yml'].map(name => join(directory, name)))
  cpSync(directory, folder, { recursive: true, verbatimSymlinks: true, filter: path => !own.has(path) })
  if (!checkout) return
  const git = (...words: string[]) => execFileSync('git', ['-C', folder, ...words], { env: cleanEnv() })
  const { untracked = [], deleted = [] } = checkout
  git('init', '--quiet')
  writeFileSync(join(folder, '.git/info/exclude'), untracked.map(path => `/${path}\n`).join(''))
  git('add', '--all')
  for (const path of deleted) rmSync(join(folder, path), { recursive: true })
}

/**
 * Returns an environment without the variables of a git hook that may run the tests, and without the user's own
 * settings.
 */
const cleanEnv = () => ({ PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' })
