import { gunzipSync, gzipSync } from 'node:zlib'
import { parseJson } from '../../adapters/json/parse-json.ts'
import type { KnownSecrets } from '../../compiler/values/secrets/known-secrets.ts'
import type { Changes } from '../plan/changes.ts'
import { nameOf, serviceOf } from '../plan/desired-state.ts'
import { diffOf, type ValueDiff } from '../plan/diff.ts'
import { changeLists } from './record-texts.validators.ts'

/** Known facts about the origin of a deploy. */
export interface ChangeOrigin {
  /** `git.example.com/team/shop`. */
  readonly repository?: string
  readonly branch?: string
  readonly commit?: string
  /** The first line of what the commit says. */
  readonly subject?: string
  /** True if there were uncommitted changes. */
  readonly isDirty?: boolean
  /** True if it is not known whether there were uncommitted changes. */
  readonly isUnchecked?: boolean
}

/** A value that a deploy has changed; one that may be secret, or long, only as a word. */
export interface RecordedValue {
  readonly path: string
  readonly before?: string
  readonly after?: string
  /** Text shown in place of both values. */
  readonly masked?: string
}

/** An object that a deploy has changed. */
export interface RecordedChange {
  readonly action: 'create' | 'update' | 'replace' | 'delete'
  /** `deployment/web`. */
  readonly object: string
  readonly service?: string
  readonly values: readonly RecordedValue[]
  readonly consequence?: string
}

/** A change that a deploy did not get to. */
export type UnappliedChange = Pick<RecordedChange, 'action' | 'object' | 'service'>

/** End of a deploy that may not have applied everything; `unknown`: it is running, or was killed. */
export type DeployEnd = 'unknown' | 'failed' | 'interrupted'

/** The changes of one deploy: written before the first object is changed, as if all will be, and again at the end. */
export interface ChangeList extends ChangeOrigin {
  /** Counts the deploys of an environment. */
  readonly number: number
  readonly by: string
  /** ISO 8601. */
  readonly at: string
  /** Absent: everything was applied. */
  readonly end?: DeployEnd
  readonly changes: readonly RecordedChange[]
  /** Changes that were planned, and not made, as it ended before. */
  readonly unapplied?: readonly UnappliedChange[]
  /** Further changes that were too many to be kept. */
  readonly left?: number
}

/** Lists that the record keeps. */
const MOST_LISTS = 10
/** Characters of all of them, as they are in the record: gzip, in base64. */
const MOST = 64 * 1024
/** Bytes when they are unpacked: what is more was not written by us. */
const MOST_UNPACKED = 1024 * 1024
/** Maximum number of changes in a list, and of values in a change. */
const MOST_CHANGES = 200
const MOST_VALUES = 50
/** Values of all lists that are read together: as objects, short ones take much more memory than as text. */
const MOST_READ = MOST_CHANGES * MOST_VALUES
/** Characters of a value, and of a line of text. */
const LONGEST = 200
/** Characters of a text that is read: names of objects and addresses are longer. */
const LONGEST_READ = 500

/** The lists of a record with one more, in the form of the record. */
export function withChangeList(before: string | undefined, list: Omit<ChangeList, 'number'>): string {
  const old = readChangeLists(before)
  return pack([{ ...list, number: (old[0]?.number ?? 0) + 1 }, ...old])
}

/** End of a deploy, for its list. */
export interface Ending {
  /** Absent: everything was applied. */
  readonly end?: DeployEnd
  /** The changes that were made, as `changeKey` names them. */
  readonly done: ReadonlySet<string>
  /** The facts about the commit that are known by now. */
  readonly origin?: ChangeOrigin | undefined
}

/** Names a change of an object. */
export const changeKey = (action: RecordedChange['action'], object: string): string => `${action} ${object}`

/** The lists of a record whose newest one, that of the deploy, says how it ended, and what was not changed then. */
export function withEnding(before: string, { end, done, origin }: Ending): string {
  const [newest, ...old] = readChangeLists(before)
  if (!newest) return before
  const { end: _, isDirty, isUnchecked, ...rest } = newest
  const checked = origin ?? { ...(isDirty && { isDirty }), ...(isUnchecked && { isUnchecked }) }
  const made = rest.changes.map(change => (end === undefined ? change : madeOf(change, done)))
  const unapplied = rest.changes.filter((_, index) => made[index] === undefined)
  return pack([
    {
      ...rest,
      ...checked,
      ...(end !== undefined && { end }),
      changes: made.filter(change => change !== undefined),
      ...(unapplied.length > 0 && {
        unapplied: unapplied.map(({ action, object, service }) => ({ action, object, ...texts({ service }) })),
      }),
    },
    ...old,
  ])
}

/** The part of a change that was made; undefined if nothing was. */
function madeOf(change: RecordedChange, done: ReadonlySet<string>): RecordedChange | undefined {
  const { action, object } = change
  if (done.has(changeKey(action, object))) return change
  return action === 'replace' && done.has(changeKey('delete', object))
    ? { ...change, action: 'delete', consequence: 'deleted, and not created again' }
    : undefined
}

function pack(all: readonly ChangeList[]): string {
  const lists = all.slice(0, MOST_LISTS)
  for (;;) {
    const text = JSON.stringify(lists)
    const packed = text.length <= MOST_UNPACKED ? gzipSync(text).toString('base64') : undefined
    if (packed !== undefined && packed.length <= MOST) return packed
    if (lists.length > 1) lists.pop()
    else lists[0] = shortened(lists[0]!)
  }
}

/**
 * Returns the lists of a record, the newest first, within the limits of what a deploy writes. Members of the namespace
 * can write anything into it: a record that cannot be read has no lists, and of one with more than the limits the rest
 * is left out.
 */
export function readChangeLists(packed: string | undefined): readonly ChangeList[] {
  const lists = unpacked(packed).slice(0, MOST_LISTS).map(withinLimits)
  let values = 0
  const end = lists.findIndex(({ changes }) => {
    values += changes.reduce((sum, one) => sum + one.values.length, 0)
    return values > MOST_READ
  })
  return end === -1 ? lists : lists.slice(0, end)
}

/** Returns the newest list of a record without its changes: who deployed what, and when. */
export function lastDeploy(packed: string | undefined): Omit<ChangeList, 'changes' | 'unapplied' | 'left'> | undefined {
  const [newest] = unpacked(packed).slice(0, 1).map(withinLimits)
  if (!newest) return undefined
  const { changes: _, unapplied: __, left: ___, ...deploy } = newest
  return deploy
}

function unpacked(packed: string | undefined): readonly ChangeList[] {
  if (packed === undefined || packed.length > 2 * MOST) return []
  try {
    const text = gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: MOST_UNPACKED }).toString()
    const read = parseJson(text, changeLists)
    return read.ok ? read.value : []
  } catch {
    // No gzip, or larger than what we write.
    return []
  }
}

/** Copies a list without what exceeds the limits, and without properties that are not in its type. */
function withinLimits({ number, by, at, repository, branch, commit, subject, ...rest }: ChangeList): ChangeList {
  const left = (rest.left ?? 0) + Math.max(0, rest.changes.length - MOST_CHANGES)
  return {
    number,
    by: short(by),
    at: short(at),
    ...texts({ repository, branch, commit, subject }),
    ...(rest.isDirty !== undefined && { isDirty: rest.isDirty }),
    ...(rest.isUnchecked !== undefined && { isUnchecked: rest.isUnchecked }),
    ...(rest.end !== undefined && { end: rest.end }),
    changes: rest.changes.slice(0, MOST_CHANGES).map(changeWithinLimits),
    ...(rest.unapplied && {
      unapplied: rest.unapplied
        .slice(0, MOST_CHANGES)
        .map(({ action, object, service }) => ({ action, object: short(object), ...texts({ service }) })),
    }),
    ...(left > 0 && { left }),
  }
}

const changeWithinLimits = ({ action, object, service, values, consequence }: RecordedChange): RecordedChange => ({
  action,
  object: short(object),
  ...texts({ service }),
  values: values.slice(0, MOST_VALUES).map(({ path, before, after, masked }) => ({
    path: short(path),
    ...texts({ before, after, masked }),
  })),
  ...texts({ consequence }),
})

/** Returns the texts that are present, shortened. */
const texts = <K extends string>(all: Readonly<Record<K, string | undefined>>): { readonly [key in K]?: string } =>
  Object.fromEntries(
    Object.entries<string | undefined>(all).flatMap(([key, text]) => (text === undefined ? [] : [[key, short(text)]])),
  ) as { readonly [key in K]?: string } // the same keys

/** Returns the changes of a deploy for the record, with fewer values than a diff shows, because they are stored. */
export function recordedChanges(
  changes: Changes,
  secrets: Pick<KnownSecrets, 'strict'> | undefined,
): Pick<ChangeList, 'changes' | 'left'> {
  const { steps, prune, pruneFirst } = changes
  const objects = [...[...steps.values()].map(({ wanted }) => wanted.object), ...pruneFirst, ...prune]
  const services = new Map(objects.map(object => [nameOf(object), serviceOf(object)]))
  const all = diffOf(changes, secrets?.strict, true).flatMap(
    ({ action, object, values, consequence }): RecordedChange[] => {
      if (action === 'keep') return []
      const service = services.get(object)
      return [
        {
          action,
          object,
          ...(service !== undefined && { service }),
          values: values.slice(0, MOST_VALUES).map(value => recorded(object, value)),
          ...(consequence !== undefined && { consequence: cut(consequence) }),
        },
      ]
    },
  )
  const left = all.length - MOST_CHANGES
  return { changes: all.slice(0, MOST_CHANGES), ...(left > 0 && { left }) }
}

/** Fields with arbitrary values: the input of a program, and the content of files. */
const CONTENT = new Set(['env', 'command', 'args', 'annotations', 'data', 'binaryData', 'stringData'])

function recorded(object: string, { path, keys, before, after, masked }: ValueDiff): RecordedValue {
  const where = { path: cut(path) }
  if (masked !== undefined) return { ...where, masked: cut(masked) }
  const isPlain = [before, after].every(
    one => one === undefined || ['string', 'number', 'boolean'].includes(typeof one),
  )
  const mayBeSecret = object.startsWith('secret/') || keys.some(key => typeof key === 'string' && CONTENT.has(key))
  if (mayBeSecret || !isPlain)
    return { ...where, masked: before === undefined ? 'new' : after === undefined ? 'removed' : 'changed' }
  return {
    ...where,
    ...(before !== undefined && { before: cut(`${before}`) }),
    ...(after !== undefined && { after: cut(`${after}`) }),
  }
}

const cut = (text: string, longest = LONGEST): string =>
  text.length > longest ? `${text.slice(0, longest - 1)}…` : text

const short = (text: string): string => cut(text, LONGEST_READ)

/** Half of its changes; without one, no words of the commit either. */
function shortened({ changes, left = 0, subject: _, ...rest }: ChangeList): ChangeList {
  const kept = changes.slice(0, changes.length >> 1)
  return { ...rest, changes: kept, left: left + changes.length - kept.length }
}
