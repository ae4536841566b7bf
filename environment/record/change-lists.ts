import { gunzipSync, gzipSync } from 'node:zlib'
import { parseJson } from '../../adapters/json/parse-json.ts'
import type { KnownSecrets } from '../../compiler/values/secrets/known-secrets.ts'
import type { Changes } from '../plan/changes.ts'
import { nameOf, serviceOf } from '../plan/desired-state.ts'
import { diffOf, type ValueDiff } from '../plan/diff.ts'
import { changeLists } from './record-texts.validators.ts'

/** Known facts about the origin of a deploy. */
export interface ChangeOrigin {
  /** Repository such as `git.example.com/team/shop`. */
  readonly repository?: string
  readonly branch?: string
  readonly commit?: string
  /** First line of the commit message. */
  readonly subject?: string
  /** True if there were uncommitted changes. */
  readonly isDirty?: boolean
  /** True if it is not known whether there were uncommitted changes. */
  readonly isUnchecked?: boolean
}

/** Value that a deploy has changed. Long or possibly secret values are replaced by a short text. */
export interface RecordedValue {
  readonly path: string
  readonly before?: string
  readonly after?: string
  /** Text to show in place of both values; absent if the values may be shown. */
  readonly masked?: string
}

/** Object that a deploy has changed. */
export interface RecordedChange {
  readonly action: 'create' | 'update' | 'replace' | 'delete'
  /** Name such as `deployment/web`. */
  readonly object: string
  readonly service?: string
  readonly values: readonly RecordedValue[]
  readonly consequence?: string
}

/** Planned change that a deploy did not make because it ended early. */
export type UnappliedChange = Pick<RecordedChange, 'action' | 'object' | 'service'>

/**
 * End of a deploy that did not, or possibly did not, apply everything; `unknown` if the deploy is still running, or was
 * killed.
 */
export type DeployEnd = 'unknown' | 'failed' | 'interrupted'

/**
 * Changes of one deploy. Written before the first object is changed, with all planned changes, and again at the end.
 */
export interface ChangeList extends ChangeOrigin {
  /** Sequence number of the deploy within its environment. */
  readonly number: number
  readonly by: string
  /** Time in ISO 8601. */
  readonly at: string
  /** End of the deploy; absent if everything was applied. */
  readonly end?: DeployEnd
  readonly changes: readonly RecordedChange[]
  /** Changes that were planned but not made, because the deploy ended early. */
  readonly unapplied?: readonly UnappliedChange[]
  /** Number of further changes that are not in the list, because a list is limited in size. */
  readonly left?: number
}

/** Maximum number of lists in the record. */
const MOST_LISTS = 10
/** Maximum length in characters of all lists as stored in the record: gzip, in base64. */
const MOST = 64 * 1024
/** Maximum size of all lists after unpacking, in bytes. devctl never writes more. */
const MOST_UNPACKED = 1024 * 1024
/** Maximum number of changes in a list, and of values in a change. */
const MOST_CHANGES = 200
const MOST_VALUES = 50
/**
 * Maximum total number of values in the lists that are loaded at once. A limit on the length of the text is not enough,
 * because many short values take far more memory once parsed.
 */
const MOST_READ = MOST_CHANGES * MOST_VALUES
/** Maximum length of a value, and of a line of text, in characters. */
const LONGEST = 200
/** Maximum length of a text that is read, in characters. Object names and addresses can be longer than `LONGEST`. */
const LONGEST_READ = 500

/** Returns the lists of a record with one more list, in the format of the record. */
export function withChangeList(before: string | undefined, list: Omit<ChangeList, 'number'>): string {
  const old = readChangeLists(before)
  return pack([{ ...list, number: (old[0]?.number ?? 0) + 1 }, ...old])
}

/** Details of how a deploy ended, for its change list. */
export interface Ending {
  /** End of the deploy; absent if everything was applied. */
  readonly end?: DeployEnd
  /** Keys of the changes that were made, in the format of `changeKey`. */
  readonly done: ReadonlySet<string>
  /** Facts about the commit that are known at this point. */
  readonly origin?: ChangeOrigin | undefined
}

/** Returns the key of a change to an object. */
export const changeKey = (action: RecordedChange['action'], object: string): string => `${action} ${object}`

/**
 * Returns the lists of a record after the end of a deploy. The newest list, which belongs to this deploy, additionally
 * contains how the deploy ended, and the changes that it did not make.
 */
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

/** Returns the part of a change that was made; undefined if none was made. */
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
 * Returns the lists of a record, newest first, within the limits of what a deploy writes. Members of the namespace can
 * write anything into the record, so an unreadable record yields no lists, and anything beyond the limits is dropped.
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

/**
 * Returns the newest list of a record without its changes: who deployed what, and when. Undefined if the record has no
 * list.
 */
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
    // Not gzip, or larger than anything devctl writes.
    return []
  }
}

/** Copies a list without anything that exceeds the limits, and without properties that are not in its type. */
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

/** Returns the defined texts, each truncated to `LONGEST_READ` characters. */
const texts = <K extends string>(all: Readonly<Record<K, string | undefined>>): { readonly [key in K]?: string } =>
  Object.fromEntries(
    Object.entries<string | undefined>(all).flatMap(([key, text]) => (text === undefined ? [] : [[key, short(text)]])),
  ) as { readonly [key in K]?: string } // the same keys

/**
 * Returns the changes of a deploy for the record. They contain fewer values than a diff shows, because they are stored
 * in the cluster.
 */
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

/** Fields with arbitrary values: the input of a program, or the content of files. */
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

/** Returns the list without the commit subject and the second half of its changes. */
function shortened({ changes, left = 0, subject: _, ...rest }: ChangeList): ChangeList {
  const kept = changes.slice(0, changes.length >> 1)
  return { ...rest, changes: kept, left: left + changes.length - kept.length }
}
