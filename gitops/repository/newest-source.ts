import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { GitFailure } from '../../adapters/git/git.ts'
import { classify } from '../../adapters/git/rejection.ts'
import { LOCK_NAME } from '../../project/lock.ts'
import { fetchAgain, fetchNote, NOTE, type WorkingCopy } from './checkout.ts'
import { noteName } from './note-name.ts'
import type { Mark } from './push.ts'
import type { IsAncestor } from './source-order.ts'
import { readLock } from './tree/change.ts'

/**
 * Note about a source that renders to the folder's current content. Publishing such a source makes no commit, so
 * without the note an older source could overwrite the folder. The note is a ref for the folder and its branch. The ref
 * points to an empty commit, whose message names the source and the lock at that time. The note is valid only as long
 * as the folder has exactly this lock. After a revert, a merge or a removal, the source that the lock names counts
 * again.
 */
interface Note {
  readonly commit: string
  readonly source: string | undefined
  readonly lock: string | undefined
}

/**
 * Returns the source commit that a folder of a checkout represents. Fetches the note (one connection) only if the
 * source `mustBeKnown`; otherwise uses the note only if it was already fetched.
 */
export async function newestSource(
  checkout: WorkingCopy,
  path: string,
  mustBeKnown: boolean,
): Promise<string | undefined> {
  const there = readLock(join(checkout.folder, path), path)
  if (there === undefined) return undefined
  const note = checkout.hasNote || mustBeKnown ? await readNote(checkout, path) : undefined
  return notedSource(checkout, path, note) ?? there.facts?.source.commit
}

/**
 * Records that our source also renders to the content of the unchanged folder. Does so only if our source is newer than
 * the recorded one, or with `rollback`. If the recorded source is newer than ours, returns the recorded source. Does
 * nothing on servers that reject refs for notes. Throws a GitFailure if another push came first.
 */
export async function noteUnchanged(
  checkout: WorkingCopy,
  path: string,
  ours: string,
  { rollback, isAncestor }: { readonly rollback: boolean; readonly isAncestor: IsAncestor },
): Promise<string | undefined> {
  const isOlder = async (there: string | undefined) => there !== undefined && (await isAncestor(there, ours)) === true
  const written = readLock(join(checkout.folder, path), path)?.facts?.source.commit
  if (!rollback && (written === ours || !(await isOlder(written)))) return undefined
  if (!checkout.hasNote) await unlessRefused(fetchWithBranch(checkout, path))
  const note = await readNote(checkout)
  const newest = notedSource(checkout, path, note) ?? written
  if (newest === undefined || newest === ours) return undefined
  if (!rollback && !(await isOlder(newest))) return (await isAncestor(ours, newest)) === true ? newest : undefined
  const { ref, object, expected } = await markFor(checkout, path, ours, note?.commit ?? '')
  const words = [
    'push',
    '--quiet',
    '--no-follow-tags',
    '--recurse-submodules=no',
    `--force-with-lease=${ref}:${expected}`,
  ]
  await unlessRefused(checkout.git.run(...words, 'origin', `${object}:${ref}`))
  return undefined
}

/**
 * Fetches the note together with the branch. If the branch has moved since the checkout, throws the same GitFailure as
 * after a lost race: the fetched note then belongs to the newer commit, and a note about the old commit must not
 * replace it.
 */
async function fetchWithBranch({ git, branch, head }: WorkingCopy, path: string): Promise<void> {
  const now = await fetchAgain(git, branch, { paths: [path] })
  if (now.head !== head) throw new GitFailure('fetch', `${branch} (fetch first)`, 1)
}

/**
 * Returns the object to which the note should currently point, for a push that fails if it points to another one; empty
 * if the note should not exist. Usually computes the object from the lock, without a request to the server (`isGuess`).
 * The push therefore fails if another source has been noted in the meantime.
 */
export async function expectedNote(checkout: WorkingCopy, path: string): Promise<Pick<Mark, 'expected' | 'isGuess'>> {
  const there = readLock(join(checkout.folder, path), path)
  const { commit, isDirty } = there?.facts?.source ?? {}
  if (checkout.hasNote || (there !== undefined && (commit === undefined || isDirty)))
    return { expected: (await readNote(checkout, path))?.commit ?? '', isGuess: false }
  if (there === undefined || commit === undefined) return { expected: '', isGuess: true }
  const note = noteText(checkout, path, commit, await algorithmOf(checkout))
  // Written locally, because a partial clone would fetch a missing object.
  writeObject(checkout, note)
  return { expected: note.id, isGuess: true }
}

/**
 * Creates the note about a folder with its current lock and the source that it represents. Returns the ref and the
 * object for the push, together with `expected`, the object that the ref currently points to.
 */
export async function markFor(
  checkout: WorkingCopy,
  path: string,
  source: string,
  expected: string,
): Promise<Pick<Mark, 'ref' | 'object' | 'expected'>> {
  const algorithm = await algorithmOf(checkout)
  const first = noteText(checkout, path, source, algorithm)
  // The server would not check a ref that does not change.
  const note = first.id === expected ? noteText(checkout, path, source, algorithm, expected) : first
  for (const object of [objectOf('tree', '', algorithm), note]) writeObject(checkout, object)
  return { ref: noteName(path, checkout.branch), object: note.id, expected }
}

/** Returns the source that a note names; undefined if the note is not about the current lock. */
const notedSource = (checkout: WorkingCopy, path: string, note: Note | undefined) =>
  note?.lock === undefined || note.lock !== lockHash(checkout, path) ? undefined : note.source

/**
 * Returns the fetched note; undefined if there is none. With `path`, fetches the note first, unless it was fetched with
 * the branch.
 */
async function readNote({ git, branch, hasNote }: WorkingCopy, path?: string): Promise<Note | undefined> {
  if (path !== undefined && !hasNote) await unlessRefused(fetchNote(git, noteName(path, branch)))
  const said = await git.ask('log', '-1', '--format=%H%n%B', NOTE, '--')
  if (said === undefined) return undefined
  const trailer = (name: string) => new RegExp(`^Devctl-${name}: ([0-9a-f]{40,64})$`, 'm').exec(said)?.[1]
  return { commit: said.split('\n', 1)[0]!, source: trailer('Source'), lock: trailer('Lock') }
}

/**
 * Waits for a git operation, and ignores its refusal by the server: a user without permission to push notes, for
 * example, can still publish. Throws a GitFailure after a lost race or a broken connection, and all other errors.
 */
async function unlessRefused(done: Promise<unknown>): Promise<void> {
  try {
    await done
  } catch (error) {
    const kind = error instanceof GitFailure ? classify(error.said) : undefined
    if (kind === undefined || kind === 'race' || kind === 'broken') throw error
  }
}

const lockHash = ({ folder }: WorkingCopy, path: string) =>
  createHash('sha256')
    .update(readFileSync(join(folder, path, LOCK_NAME)))
    .digest('hex')

type Algorithm = 'sha1' | 'sha256'

/** A git object and its ID (https://git-scm.com/book/en/v2/Git-Internals-Git-Objects). */
interface GitObject {
  readonly id: string
  readonly content: string
}

function objectOf(type: 'commit' | 'tree', text: string, algorithm: Algorithm): GitObject {
  const content = `${type} ${Buffer.byteLength(text)}\0${text}`
  return { id: createHash(algorithm).update(content).digest('hex'), content }
}

/** Writes an object directly, because a git process for each object would take longer. */
function writeObject({ folder }: WorkingCopy, { id, content }: GitObject): void {
  const file = join(folder, '.git/objects', id.slice(0, 2), id.slice(2))
  if (existsSync(file)) return
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, deflateSync(content))
}

/**
 * Returns the text of a note without time and user name, so that all users who note the same source create the same
 * object.
 */
function noteText(
  checkout: WorkingCopy,
  path: string,
  source: string,
  algorithm: Algorithm,
  before?: string,
): GitObject {
  const nobody = 'devctl <devctl@localhost> 0 +0000'
  const lines = [
    `tree ${objectOf('tree', '', algorithm).id}`,
    `author ${nobody}`,
    `committer ${nobody}`,
    '',
    'the newest source that a folder stands for',
    '',
    `Devctl-Source: ${source}`,
    `Devctl-Path: ${path}`,
    `Devctl-Lock: ${lockHash(checkout, path)}`,
    ...(before === undefined ? [] : [`Devctl-Before: ${before}`]),
  ]
  return objectOf('commit', `${lines.join('\n')}\n`, algorithm)
}

async function algorithmOf({ git, head }: WorkingCopy): Promise<Algorithm> {
  const isLong =
    head === undefined ? (await git.run('rev-parse', '--show-object-format')) === 'sha256' : head.length > 40
  return isLong ? 'sha256' : 'sha1'
}
