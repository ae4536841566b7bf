import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { Checkout, Target } from './checkout.ts'
import { refuseSameObjects } from './neighbours.ts'
import { type Commit, type Pushed, type PushOptions, pushTo } from './push.ts'
import { type Change, type Output, planChange } from './tree/change.ts'
import { type Facts, LOCK_NAME } from './tree/lock.ts'
import { applyChange } from './tree/output-directory.ts'

/** What should be in a repository. */
export interface Publication {
  readonly target: Target
  /** The folders of the repository and what they should hold; the first one is the application's own. */
  readonly folders: readonly PublishedFolder[]
  /** The source is older than what is there: publish it all the same. */
  readonly rollback: boolean
}

export interface PublishedFolder {
  /** From the root of the repository, with `/`; `.` is the root. */
  readonly path: string
  readonly output: Output
}

/** What would become of a folder. */
export interface FolderChange {
  readonly path: string
  readonly change: Change
  /** The files of ours as they are now, by path in the folder. */
  readonly before: ReadonlyMap<string, string>
  readonly added: number
}

export type Outcome =
  /** Nothing to write. `commit` is the source that was published last. */
  | { readonly kind: 'unchanged'; readonly head: string | undefined; readonly branch: string }
  /** What is there comes from a source that has ours among its ancestors. */
  | { readonly kind: 'newer'; readonly source: string }
  /** What would be written (`--dry-run`, `--verify`). */
  | { readonly kind: 'planned'; readonly branch: string; readonly changes: readonly FolderChange[] }
  | { readonly kind: 'pushed'; readonly pushed: Pushed; readonly changes: readonly FolderChange[] }

export interface PublishOptions extends PushOptions {
  /** Only look. */
  readonly dryRun: boolean
  /** The message of the commit, from what is changed by it. */
  readonly message: (changes: readonly FolderChange[]) => Promise<string>
  /** Whether the first commit of the source is an ancestor of the second one; undefined where it cannot be told. */
  readonly isAncestor: (older: string, newer: string) => Promise<boolean | undefined>
}

/**
 * Brings a branch of a repository to what it should hold: one commit, or none where nothing differs. Nobody else's file is touched, nothing older overwrites
 * something newer. Throws a UserError, and has pushed nothing, where something is in the way.
 */
export async function publish(publication: Publication, options: PublishOptions): Promise<Outcome> {
  let changes: readonly FolderChange[] = []
  const work = {
    async write(checkout: Checkout): Promise<{ readonly commit: Commit } | { readonly done: Outcome }> {
      const { head, branch } = checkout
      for (const { path } of publication.folders) await refuseLinks(checkout, path)
      changes = publication.folders.map(folder => planFolder(checkout, folder))
      const newer = publication.rollback ? undefined : await newerSource(publication, changes, options)
      if (newer !== undefined) return { done: { kind: 'newer', source: newer } }
      const isSame = changes.every(
        ({ change: { writes, removals, before } }) => before && writes.size + removals.length === 0,
      )
      if (isSame) return { done: { kind: 'unchanged', head, branch } }
      await refuseSameObjects(checkout, publication.folders)
      if (options.dryRun) return { done: { kind: 'planned', branch, changes } }
      const message = await options.message(changes)
      for (const { path, change } of changes) applyChange(join(checkout.folder, path), change)
      return { commit: { message, paths: changes.flatMap(pathsOf) } }
    },
  }
  const result = await pushTo(publication.target, work, options)
  return 'done' in result ? result.done : { kind: 'pushed', pushed: result.pushed, changes }
}

function planFolder({ folder }: Checkout, { path, output }: PublishedFolder): FolderChange {
  const root = join(folder, path)
  const change = planChange(root, path, output)
  refuseOtherTarget(path, change, output)
  const before = new Map([...change.present.keys()].map(file => [file, readFileSync(join(root, file), 'utf8')]))
  const added = [...change.writes.keys()].filter(file => !before.has(file)).length
  return { path, change, before, added }
}

/** One folder is one environment: that of another one is there by a mistake in a path. */
function refuseOtherTarget(path: string, { before }: Change, { facts, takeOver }: Output): void {
  const there = before?.facts?.target
  if (takeOver || there === undefined || !facts || facts.target === there) return
  const ours = facts.target === undefined ? 'none' : `\`${facts.target}\``
  throw new UserError(`\`${path}\` holds the environment \`${there}\`, and this is ${ours}`, {
    hint: 'choose another folder with `--path`, or replace it with `--take-over`',
  })
}

function pathsOf({ path, change: { writes, removals } }: FolderChange): readonly string[] {
  const inRepository = (file: string) => (path === '.' ? file : `${path}/${file}`)
  return [...writes.keys(), ...removals, LOCK_NAME].map(inRepository)
}

/** A link or a submodule on the way to our folder would lead us into somebody else's. They are not checked out, so the tree is asked. */
async function refuseLinks({ git, head }: Checkout, path: string): Promise<void> {
  if (head === undefined || path === '.') return
  const parts = path.split('/')
  const way = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
  const found = await git.run('ls-tree', '-z', head, '--', ...way)
  for (const line of found.split('\0').filter(line => line !== '')) {
    const [, mode, name] = /^(\d+) \S+ \S+\t(.*)$/s.exec(line) ?? []
    if (mode === '040000') continue
    const what = mode === '120000' ? 'a symbolic link' : mode === '160000' ? 'a submodule' : 'a file'
    throw new UserError(`\`${name}\` in the repository is ${what}, not a folder`, {
      hint: 'move it away, or choose another folder with `--path`',
    })
  }
}

/** The source commit that is there already and has ours among its ancestors. */
async function newerSource(
  { folders }: Publication,
  changes: readonly FolderChange[],
  { isAncestor }: PublishOptions,
): Promise<string | undefined> {
  const ours = sourceOf(folders[0]?.output.facts)
  const theirs = sourceOf(changes[0]?.change.before?.facts)
  if (ours === undefined || theirs === undefined || ours === theirs) return undefined
  return (await isAncestor(ours, theirs)) === true ? theirs : undefined
}

const sourceOf = (facts: Facts | undefined) => facts?.source.commit
