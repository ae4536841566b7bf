import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { realPath } from '../../adapters/files/real-path.ts'
import { withoutOtherRepository } from '../../adapters/git/git.ts'
import type { Checkout, TrackedFile } from '../../compiler/host.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Timeout for git, which only reads one file, in milliseconds. */
const DEADLINE = 10_000
const MOST_OUTPUT = 1 << 28

/**
 * Returns a function that finds the checkout of a folder, and reads git's index once per checkout. It looks for `.git`
 * without running git, so git never runs outside checkouts.
 */
export function createCheckouts(env: Env): (folder: string) => Checkout | undefined {
  const known = new Map<string, Checkout | undefined>()
  const at = (root: string) => {
    if (!known.has(root)) known.set(root, readCheckout(root, env))
    return known.get(root)
  }
  return folder => {
    for (let path = realPath(folder) ?? folder; ; path = dirname(path)) {
      const found = existsSync(join(path, '.git')) ? at(path) : undefined
      if (found || path === dirname(path)) return found
    }
  }
}

/** Reads the index of a checkout; undefined if `.git` is not a git repository. */
function readCheckout(root: string, env: Env): Checkout | undefined {
  const { status, stdout, stderr, error } = spawnSync('git', listing(root), {
    cwd: root,
    env: {
      ...withoutOtherRepository(env),
      GIT_OPTIONAL_LOCKS: '0',
      GIT_TERMINAL_PROMPT: '0',
      // Objects missing from a partial clone are not fetched, because the checkout would determine the address and its
      // helper.
      GIT_NO_LAZY_FETCH: '1',
      GIT_ALLOW_PROTOCOL: 'none',
      LC_ALL: 'C',
    },
    encoding: 'utf8',
    timeout: DEADLINE,
    maxBuffer: MOST_OUTPUT,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  })
  if (status === 0) return { root, files: parseListing(stdout) }
  if (/not a git repository/.test(stderr ?? '')) return undefined
  return { root, files: [], failure: reasonOf(stderr ?? '', error) }
}

/**
 * Returns the arguments for `git ls-files`. They name the repository, instead of letting git search for it. git then
 * accepts the repository of another user, which is common in CI containers, and ignores the setting `core.worktree`.
 * Programs that the configuration of the repository names are not run.
 */
function listing(root: string): readonly string[] {
  const own = ['core.fsmonitor=false', 'core.hooksPath=/dev/null'].flatMap(setting => ['-c', setting])
  return [`--git-dir=${join(root, '.git')}`, `--work-tree=${root}`, ...own, 'ls-files', '-z', '--stage', '-t']
}

/** Parses entries `TAG MODE OBJECT STAGE<tab>PATH`. A conflicted path is listed up to three times. */
function parseListing(text: string): readonly TrackedFile[] {
  const found = new Map<string, TrackedFile>()
  for (const entry of text.split('\0')) {
    const tab = entry.indexOf('\t')
    if (tab < 0) continue
    const [tag, mode] = entry.slice(0, tab).split(' ')
    const path = entry.slice(tab + 1)
    found.set(path, { path, kind: KINDS.get(mode!) ?? 'file', ...(tag === 'S' && { isSparse: true }) })
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Modes of index entries (https://git-scm.com/docs/index-format). */
const KINDS: ReadonlyMap<string, TrackedFile['kind']> = new Map([
  ['100755', 'executable'],
  ['120000', 'link'],
  ['160000', 'submodule'],
])

function reasonOf(stderr: string, error: Error | undefined): string {
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  if (code === 'ENOENT') return 'git is not installed'
  if (code === 'ETIMEDOUT') return 'git did not answer in time'
  const [first = ''] = stderr.trim().split('\n')
  return first.replace(/^fatal: /, '') || error?.message || 'git failed'
}
