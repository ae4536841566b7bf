import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** The environment of a process, as `spawn` takes it. */
export type Env = Readonly<Record<string, string>>

/** Result of a run of git; the status is -1 if a signal ended it. */
export interface Outcome {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * Returns an environment in which git depends on nothing of this machine: no system configuration, its own home with a
 * user name and address, English messages, no prompt. Creates `home` if it does not exist.
 */
export function hermeticGitEnv(home: string): Env {
  const config = join(home, '.gitconfig')
  mkdirSync(home, { recursive: true })
  writeFileSync(
    config,
    '[user]\n\tname = Test Publisher\n\temail = publisher@example.com\n[init]\n\tdefaultBranch = main\n',
  )
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    TMPDIR: tmpdir(),
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    GIT_CONFIG_GLOBAL: config,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  }
}

let shared: Env | undefined

/** The environment that `git` and the servers of this folder use: one home for the tests of a file. */
export function gitEnv(): Env {
  shared ??= hermeticGitEnv(mkdtempSync(join(tmpdir(), 'devctl-git-home-')))
  return shared
}

afterAll(() => {
  if (shared !== undefined) rmSync(shared['HOME']!, { recursive: true, force: true })
})

/** Runs git in a folder and returns what it printed, without the last line end; throws with git's own words. */
export async function git(folder: string, ...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await tryGit(folder, args)
  if (status !== 0) throw new Error(`git ${args.join(' ')}: status ${status}\n${stderr}`)
  return stdout.trimEnd()
}

/** Runs git in a folder, with more in its environment or something to read, and tells how it ended. */
export async function tryGit(
  folder: string,
  args: readonly string[],
  more: { env?: Env; input?: string } = {},
): Promise<Outcome> {
  const { status, stdout, stderr } = await gitBytes(folder, args, more)
  return { status, stdout: stdout.toString('utf8'), stderr }
}

/** Does what `tryGit` does, and returns the output as bytes. */
export function gitBytes(
  folder: string,
  args: readonly string[],
  { env = {}, input }: { env?: Env; input?: string } = {},
): Promise<Omit<Outcome, 'stdout'> & { readonly stdout: Buffer }> {
  return new Promise((resolve, reject) => {
    // Avoids a second process after each commit and fetch.
    const child = spawn('git', ['-c', 'maintenance.auto=false', ...args], { cwd: folder, env: { ...gitEnv(), ...env } })
    const stdout: Buffer[] = []
    let stderr = ''
    child.stdout.on('data', (bytes: Buffer) => stdout.push(bytes))
    child.stderr.setEncoding('utf8').on('data', text => (stderr += text))
    // git may end without reading: its status tells why.
    child.stdin.on('error', () => {}).end(input)
    child.on('error', reject)
    child.on('close', status => resolve({ status: status ?? -1, stdout: Buffer.concat(stdout), stderr }))
  })
}
