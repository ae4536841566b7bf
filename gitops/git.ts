import { withSettings } from './git-configuration.ts'
import { runProgram } from './run-program.ts'

/** The user's own git, in one folder: with the user's configuration, hooks, signing, credential helpers and ssh. */
export interface Git {
  /** Runs a git command and gives what it prints, without the line end. Throws a GitFailure, or the signal's reason. */
  run(...words: string[]): Promise<string>
  /** The same, but gives undefined where the command fails. */
  ask(...words: string[]): Promise<string | undefined>
}

export interface GitOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** The address that the token of DEVCTL_GIT_TOKEN is for; nobody else gets it. */
  readonly tokenFor?: string
}

/** A git command that failed, with what git and the server behind it said. */
export class GitFailure extends Error {
  /** What it printed on standard error, credentials in addresses left out. */
  readonly said: string
  /** Its exit status; -1 where a signal ended it, or there is no git. */
  readonly status: number

  constructor(command: string, said: string, status: number) {
    super(`git ${command} failed: ${said}`)
    this.said = said
    this.status = status
  }
}

/** Without credentials: `https://token@host/x` becomes `https://host/x`. */
export function withoutCredentials(text: string): string {
  return text.replace(/([a-z+]+:\/\/)[^@/\s]*@/gi, '$1')
}

/** Git for a folder that is there. `signal` ends what runs. */
export function openGit(folder: string, { env, signal, tokenFor }: GitOptions): Git {
  const own = { ...toText(withToken(env, tokenFor)), ...QUIET }
  const run = async (...words: string[]) => {
    signal.throwIfAborted()
    const { status, stdout, stderr } = await runProgram('git', words, { folder, env: own, signal })
    signal.throwIfAborted()
    // What git prints on standard error is often progress: only its status tells.
    if (status === 0) return stdout.replace(/\n$/, '')
    throw new GitFailure(words[0]!, withoutCredentials((stderr || stdout).trim()), status)
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

/** Nobody sits at the terminal of these commands, and their words are read by us. */
const QUIET = { GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C', LANGUAGE: 'C' }

/**
 * An environment in which a last credential helper gives the token of DEVCTL_GIT_TOKEN (user name: DEVCTL_GIT_USERNAME) to the server of an address. The user's own helpers are
 * asked first; the token stays in the environment, and is never on a command line.
 */
function withToken(env: GitOptions['env'], address: string | undefined): GitOptions['env'] {
  if (!env.DEVCTL_GIT_TOKEN || address === undefined || !/^https?:/i.test(address)) return env
  const helper =
    '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "${DEVCTL_GIT_USERNAME:-x-access-token}" "$DEVCTL_GIT_TOKEN"; }; f'
  return withSettings(env, [[`credential.${new URL(address).origin}.helper`, helper]])
}

function toText(env: GitOptions['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((one): one is [string, string] => one[1] !== undefined && !ABOUT_ANOTHER.has(one[0])),
  )
}

/** Set in hooks and aliases of the repository that devctl runs in: they would lead our git there (`git rev-parse --local-env-vars`), or change what our paths mean. */
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
