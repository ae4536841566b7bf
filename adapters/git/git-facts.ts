import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { isSystemError } from '../../compiler/diagnostics/system-error.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { lstatIfFound } from '../files/stat-if-found.ts'
import { type GitOptions, openGit } from './git.ts'
import { withSource } from './source-repository.ts'
import { hostOfSsh } from './ssh-over-https.ts'

/** Facts about the repository that a folder is in. A fact that cannot be determined is absent. */
export interface GitFacts {
  /** Name of the branch; absent on a detached HEAD. */
  readonly branch?: string
  /** Id of the commit. With uncommitted changes, an id of the changed state, which is not the id of any commit. */
  readonly commit?: string
  /** Address of the remote (`origin`, else the first), as https and without credentials. */
  readonly repository?: string
}

/** Total timeout for all git commands, in milliseconds; a hanging file system must not delay a deploy. */
const DEADLINE = 5_000

/**
 * Reads facts with the user's own git. Returns no facts if there is no repository, no git, or no response in time.
 * Rejects only with the signal's abort reason. Changes nothing in the repository, and runs no program that its
 * configuration names.
 */
export async function readGitFacts(folder: string, env: GitOptions['env'], signal?: AbortSignal): Promise<GitFacts> {
  const deadline = AbortSignal.timeout(DEADLINE)
  try {
    return await askAll(folder, { env, signal: signal ? AbortSignal.any([signal, deadline]) : deadline })
  } catch (error) {
    signal?.throwIfAborted()
    if (deadline.aborted) return {}
    throw error
  }
}

async function askAll(folder: string, options: GitOptions): Promise<GitFacts> {
  const { ask } = openGit(folder, options)
  const top = await ask('rev-parse', '--show-toplevel')
  if (top === undefined) return {}
  const [branch, head, remotes, changes] = await Promise.all([
    ask('symbolic-ref', '--quiet', '--short', 'HEAD'),
    ask('rev-parse', '--quiet', '--verify', 'HEAD'),
    ask('config', '--get-regexp', '^remote\\..*\\.url$'),
    changesIn(top, options),
  ])
  // If git cannot report whether there are changes, assumes that there are some.
  const commit = head && (changes === '' ? head : stateId(head, changes ?? String(Math.random()), top))
  const address = addressOf(remotes ?? '')
  const repository = address && toHttps(address)
  return { ...(branch && { branch }), ...(commit && { commit }), ...(repository && { repository }) }
}

/** Returns the uncommitted changes; undefined if git cannot report them, or if TMPDIR cannot be written to. */
async function changesIn(top: string, options: GitOptions): Promise<string | undefined> {
  try {
    // Git would read the submodule's own configuration in a submodule.
    return await withSource(top, options, git =>
      git.ask('status', '--porcelain', '-z', '--untracked-files=all', '--ignore-submodules=all'),
    )
  } catch (error) {
    options.signal.throwIfAborted()
    if (error instanceof UserError || isSystemError(error)) return undefined
    throw error
  }
}

/**
 * Returns an id of a state with uncommitted changes. The id is the same for the same changes, so that nothing is
 * rebuilt without need, and differs when a changed file changes again.
 */
function stateId(head: string, changes: string, top: string): string {
  const hash = createHash('sha1').update(head).update(changes)
  for (const entry of changes.split('\0')) {
    const path = entry.slice(3)
    const found = path && lstatIfFound(join(top, path))
    if (found) hash.update(`${path}\0${found.size}\0${found.mtimeMs}\0`)
  }
  return hash.digest('hex')
}

/** Returns the address of `origin`, else of the first remote, from lines with `remote.NAME.url ADDRESS`. */
function addressOf(config: string): string | undefined {
  const remotes = config.split('\n').flatMap(line => {
    const [, name, address] = /^remote\.(.*)\.url (.+)$/.exec(line) ?? []
    return name === undefined || address === undefined ? [] : [{ name, address }]
  })
  return (remotes.find(({ name }) => name === 'origin') ?? remotes[0])?.address
}

/**
 * Converts an address such as `git@github.com:team/shop.git` to `https://github.com/team/shop.git`. Undefined for a
 * local folder.
 */
export function toHttps(address: string): string | undefined {
  const scp = /^(?:[^@/\s]+@)?([^/:\s]+):(?!\/\/)(.+)$/.exec(address)
  // A single letter is a drive letter.
  if (scp && scp[1]!.length > 1) return `https://${hostOfSsh(scp[1]!)}/${scp[2]!.replace(/^\/+/, '')}`
  if (!URL.canParse(address)) return undefined
  const { protocol, host, hostname, pathname } = new URL(address)
  if (!/^(https?|ssh|git|git\+ssh|ssh\+git):$/.test(protocol) || hostname === '') return undefined
  // The SSH port is not the HTTPS port.
  return `https://${protocol.startsWith('http') ? host : hostOfSsh(hostname)}${pathname}`
}
