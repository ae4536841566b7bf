import { runProgram } from '../process/run-program.ts'
import { withSettings } from './git-configuration.ts'
import { type GitLogin, handOver, loginSettings } from './login.ts'

/**
 * The user's own git, in one folder: with the user's configuration, hooks, signing, credential
 * helpers and ssh.
 */
export interface Git {
  /**
   * Runs a git command and returns its output, without the final line break. Throws a GitFailure, or the signal's abort
   * reason.
   */
  run(...words: string[]): Promise<string>
  /** Runs a git command as `run` does, but returns undefined if the command fails. */
  ask(...words: string[]): Promise<string | undefined>
}

export interface GitOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** Logins for the servers that git may connect to. */
  readonly logins?: readonly GitLogin[]
  /** Environment variables that determine where git finds the repository, such as `GIT_DIR` and `GIT_WORK_TREE`. */
  readonly place?: Readonly<Record<string, string>>
}

/** A failed git command, with the messages of git and the server. */
export class GitFailure extends Error {
  /** First word of the command, such as `push`. */
  readonly command: string
  /** Error output of the command, without the credentials in addresses. */
  readonly said: string
  /** Exit status of the command; -1 if a signal ended it, or if git is not installed. */
  readonly status: number

  constructor(command: string, said: string, status: number) {
    super(`git ${command} failed: ${said}`)
    this.command = command
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
    // A commit connects to no server, but runs most of the hooks.
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
 * Environment of every git command. Disables prompts, because no user could answer; sets the language to English,
 * because devctl parses the messages; and forbids `ext::` and similar protocols, which run any program.
 */
const QUIET = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh',
  LC_ALL: 'C',
  LANGUAGE: 'C',
}

/**
 * Returns the environment without the variables that would direct git to another repository, such as the repository
 * whose hook runs devctl.
 */
export function withoutOtherRepository(env: GitOptions['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (one): one is [string, string] => one[1] !== undefined && !ABOUT_ANOTHER.has(one[0]) && !OURS.has(one[0]),
    ),
  )
}

/** Variables that only devctl needs; they are not passed to the hooks and helpers that git starts. */
const OURS = new Set(['DEVCTL_GIT_TOKEN', 'DEVCTL_FORGE_TOKEN', 'DEVCTL_TOKEN'])

/**
 * Variables set in hooks and aliases of the repository that devctl runs in: they would direct git to that repository
 * (`git rev-parse --local-env-vars`), or change the meaning of paths.
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
