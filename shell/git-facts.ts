import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { join } from 'node:path'

/** What is known of the repository that a folder is in. Each is absent where it cannot be told. */
export interface GitFacts {
  /** Absent on a detached head. */
  readonly branch?: string
  /** The commit; with changes that are not committed, an id of that state, which no commit has. */
  readonly commit?: string
  /** The address of the remote (`origin`, else the first), as https and without credentials. */
  readonly repository?: string
}

/** Milliseconds for each question; a file system or a credential helper that hangs must not hold up a deploy. */
const DEADLINE = 5_000
const MOST_OUTPUT = 16 << 20

/**
 * Asks the user's own git. Gives nothing where there is no repository, no git, or no answer in time. Rejects with the signal's reason only.
 * Changes nothing in the repository.
 */
export async function readGitFacts(folder: string, env: Env, signal?: AbortSignal): Promise<GitFacts> {
  const git = (...words: string[]) => ask(folder, words, env, signal)
  const top = await git('rev-parse', '--show-toplevel')
  if (top === undefined) return {}
  const [branch, head, changes, remotes] = await Promise.all([
    git('symbolic-ref', '--quiet', '--short', 'HEAD'),
    git('rev-parse', '--quiet', '--verify', 'HEAD'),
    git('status', '--porcelain', '-z', '--untracked-files=all'),
    git('config', '--get-regexp', '^remote\\..*\\.url$'),
  ])
  signal?.throwIfAborted()
  // When git could not say whether there are changes, there may be some.
  const commit = head && (changes === '' ? head : stateId(head, changes ?? String(Math.random()), top))
  const address = addressOf(remotes ?? '')
  const repository = address && toHttps(address)
  return { ...(branch && { branch }), ...(commit && { commit }), ...(repository && { repository }) }
}

type Env = Readonly<Record<string, string | undefined>>

function ask(folder: string, words: readonly string[], env: Env, signal: AbortSignal | undefined) {
  return new Promise<string | undefined>((resolve, reject) => {
    const options = {
      cwd: folder,
      // No question to the user, and no refreshed index: another git may be at work.
      env: { ...env, GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' },
      timeout: DEADLINE,
      maxBuffer: MOST_OUTPUT,
      ...(signal && { signal }),
    }
    execFile('git', ['-c', 'core.fsmonitor=false', ...words], options, (error, stdout) => {
      if (signal?.aborted) reject(signal.reason)
      else resolve(error ? undefined : stdout.replace(/\n$/, ''))
    })
  })
}

/** The same for the same changes, so that nothing is built anew without need, and another one when a changed file changes again. */
function stateId(head: string, changes: string, top: string): string {
  const hash = createHash('sha1').update(head).update(changes)
  for (const entry of changes.split('\0')) {
    const path = entry.slice(3)
    const found = path && lstatSync(join(top, path), { throwIfNoEntry: false })
    if (found) hash.update(`${path}\0${found.size}\0${found.mtimeMs}\0`)
  }
  return hash.digest('hex')
}

/** From lines of `remote.NAME.url ADDRESS`. */
function addressOf(config: string): string | undefined {
  const remotes = config.split('\n').flatMap(line => {
    const [, name, address] = /^remote\.(.*)\.url (.+)$/.exec(line) ?? []
    return name === undefined || address === undefined ? [] : [{ name, address }]
  })
  return (remotes.find(({ name }) => name === 'origin') ?? remotes[0])?.address
}

/** `git@github.com:team/shop.git` and its like become `https://github.com/team/shop.git`. Undefined for a folder of this machine. */
export function toHttps(address: string): string | undefined {
  const scp = /^(?:[^@/\s]+@)?([^/:\s]+):(?!\/\/)(.+)$/.exec(address)
  // A single letter is a drive.
  if (scp && scp[1]!.length > 1) return `https://${scp[1]}/${scp[2]!.replace(/^\/+/, '')}`
  if (!URL.canParse(address)) return undefined
  const { protocol, host, hostname, pathname } = new URL(address)
  if (!/^(https?|ssh|git|git\+ssh):$/.test(protocol) || hostname === '') return undefined
  // The port of ssh is not that of https.
  return `https://${protocol.startsWith('http') ? host : hostname}${pathname}`
}
