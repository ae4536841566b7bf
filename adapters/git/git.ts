import { runProgram } from '../process/run-program.ts'
import { withSettings } from './git-configuration.ts'
import { type GitLogin, handOver, loginSettings } from './login.ts'

/**
 * The user's own git, in one folder: with the user's configuration, hooks, signing, credential
 * helpers and ssh.
 */
export interface Git {
  /**
   * Runs a git command and gives what it prints, without the line end. Throws a GitFailure, or the
   * signal's reason.
   */
  run(...words: string[]): Promise<string>
  /** Runs a git command as `run` does, but returns undefined if the command fails. */
  ask(...words: string[]): Promise<string | undefined>
}

export interface GitOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** Logins for the servers that this git may talk to. */
  readonly logins?: readonly GitLogin[]
  /** The parts of a repository that are elsewhere: GIT_DIR and its like. */
  readonly place?: Readonly<Record<string, string>>
}

/** A git command that failed, with what git and the server behind it said. */
export class GitFailure extends Error {
  /** Its error output, without the credentials in addresses. */
  readonly said: string
  /** Its exit status; -1 where a signal ended it, or there is no git. */
  readonly status: number

  constructor(command: string, said: string, status: number) {
    super(`git ${command} failed: ${said}`)
    this.said = said
    this.status = status
  }
}

/** Removes the credentials from the addresses in a text: `https://token@host/x` becomes `https://host/x`. */
export function withoutCredentials(text: string): string {
  return text.replace(/([a-z+]+:\/\/)[^/\s]*@/gi, '$1')
}

/** Returns git for an existing folder. Aborting `signal` ends running commands. */
export function openGit(folder: string, { env, signal, logins = [], place }: GitOptions): Git {
  const own = { ...withoutOtherRepository(withSettings(env, loginSettings(logins))), ...QUIET, ...place }
  const run = async (...words: string[]) => {
    signal.throwIfAborted()
    // A commit asks no server, and runs most of the hooks.
    const handed = handOver(words[0] === 'commit' ? [] : logins)
    const running = runProgram('git', words, { folder, env: own, signal, descriptors: handed.descriptors })
    handed.close()
    const { status, failure, stdout, stderr } = await running
    signal.throwIfAborted()
    // Git often prints progress on standard error: only the status shows a failure.
    if (status === 0) return stdout.replace(/\n$/, '')
    throw new GitFailure(words[0]!, withoutCredentials((failure?.message ?? (stderr || stdout)).trim()), status)
  }
  return {
    run,
    async ask(...words) {
      try {
        return await run(...words)
      } catch (error) {
        if (error instanceof GitFailure) return undefined
        throw error
      }
    },
  }
}

/**
 * Environment of every git command: no user can answer a prompt, and devctl parses the messages. `ext::` and similar
 * protocols, which run any program, are not allowed.
 */
const QUIET = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh',
  LC_ALL: 'C',
  LANGUAGE: 'C',
}

/**
 * The environment without the variables that would lead git to the repository of a hook that devctl
 * runs in.
 */
export function withoutOtherRepository(env: GitOptions['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (one): one is [string, string] => one[1] !== undefined && !ABOUT_ANOTHER.has(one[0]) && !OURS.has(one[0]),
    ),
  )
}

/** Variables for devctl alone: hooks and helpers that git starts do not need them. */
const OURS = new Set(['DEVCTL_GIT_TOKEN', 'DEVCTL_FORGE_TOKEN', 'DEVCTL_TOKEN'])

/**
 * Set in hooks and aliases of the repository that devctl runs in: they would lead our git there
 * (`git rev-parse --local-env-vars`), or change what our paths mean.
 */
const ABOUT_ANOTHER = new Set([
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_NAMESPACE',
  'GIT_PREFIX',
  'GIT_QUARANTINE_PATH',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_GRAFT_FILE',
  'GIT_SHALLOW_FILE',
  'GIT_REPLACE_REF_BASE',
  'GIT_LITERAL_PATHSPECS',
  'GIT_GLOB_PATHSPECS',
  'GIT_NOGLOB_PATHSPECS',
  'GIT_ICASE_PATHSPECS',
])
