import { plural } from '../../compiler/diagnostics/render/summary.ts'
import { jsonText, printable } from '../../compiler/values/printable.ts'
import type { SourceCommit } from './source.ts'

/**
 * Entry for an object in a commit message. Has the same structure as the output of `diff`; secret values are already
 * masked.
 */
export interface MessageObject {
  readonly action: 'create' | 'update' | 'replace' | 'delete' | 'keep'
  /** Kind and name, such as `deployment/web`. */
  readonly object: string
  readonly values: readonly MessageValue[]
}

export interface MessageValue {
  /** Path of the value, such as `spec.template.spec.containers[web].image`. */
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
  /** Text to show instead of both values. */
  readonly masked?: string
}

export interface MessageInput {
  readonly application: string
  /** Value of `--environment`; undefined if the option is not set. */
  readonly environment: string | undefined
  readonly changes: readonly MessageObject[]
  /** Summary of the file changes, such as `2 files changed`, if the object changes are unknown. */
  readonly files?: string
  /** True if the commit changes only the record of the source. */
  readonly isRecordOnly?: boolean
  /** Images by Compose service. */
  readonly images: ReadonlyMap<string, string>
  /** Images in the repository before the commit, by Compose service. */
  readonly imagesBefore: Readonly<Record<string, string>>
  /** Address of the source repository, without credentials; undefined if it is unknown. */
  readonly repository: string | undefined
  /** URL of the source repository's web page; undefined if it is unknown. */
  readonly page: string | undefined
  readonly source: SourceCommit | undefined
}

/** Maximum length of a subject, in characters: the length that forges show in one line. */
const LONGEST_SUBJECT = 100
/** Maximum number of lines about objects in the body. */
const MOST_LINES = 60

/** Returns the subject line, such as `deploy(shop/staging): api 1.4.2 → 1.4.3`. */
export function subjectOf({ application, environment, changes, files, isRecordOnly }: MessageInput): string {
  const name = environment === undefined ? application : `${application}/${environment}`
  if (isRecordOnly) return oneLine(`deploy(${name}): only the record of the source changed`)
  if (files !== undefined) return oneLine(`deploy(${name}): ${files}`)
  const parts = imageChanges(changes)
  const others = changes.filter(({ action, values }) => action !== 'update' || !values.some(isImage))
  const words = parts.length > 0 ? [...parts, ...countWords(others)] : summaryWords(changes)
  return oneLine(cut(`deploy(${name}): `, words))
}

/**
 * Returns the message of a commit: the changes, object by object, and trailers for machines.
 * `Argocd-reference-commit-…` shows the source commit in Argo CD
 * (https://argo-cd.readthedocs.io/en/stable/user-guide/source-hydrator/).
 */
export function commitMessage(input: MessageInput): string {
  return `${[subjectOf(input), changeLines(input).join('\n'), trailers(input).join('\n')].filter(part => part !== '').join('\n\n')}\n`
}

/** Returns the changes of each object, as lines; truncated if there are too many. */
export function changeLines({ changes }: Pick<MessageInput, 'changes'>): readonly string[] {
  const lines = changes.flatMap(objectLines)
  const shown =
    lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES), `… ${lines.length - MOST_LINES} more lines`] : lines
  return shown.map(printable)
}

function trailers({ application, environment, images, repository, page, source }: MessageInput): readonly string[] {
  const from = repository ?? 'local'
  return [
    ...(source
      ? [`Devctl-Source: ${from}@${source.commit}${source.isDirty ? ' (with changes that are not committed)' : ''}`]
      : []),
    `Devctl-Application: ${application}`,
    ...(environment === undefined ? [] : [`Devctl-Environment: ${environment}`]),
    ...[...images].map(([service, image]) => `Devctl-Image: ${oneLine(`${service}=${image}`)}`),
    ...(source ? [`Co-authored-by: ${oneLine(source.author)}`, ...argoTrailers(source, page)] : []),
  ]
}

function argoTrailers(
  { commit, author, date, subject, body }: SourceCommit,
  page: string | undefined,
): readonly string[] {
  return [
    `Argocd-reference-commit-author: ${oneLine(author)}`,
    `Argocd-reference-commit-sha: ${commit}`,
    `Argocd-reference-commit-subject: ${oneLine(subject)}`,
    // Lines of a plain body would be parsed as trailers. Argo CD reads a JSON string.
    ...(body === '' ? [] : [`Argocd-reference-commit-body: ${jsonText(body)}`]),
    ...(page === undefined ? [] : [`Argocd-reference-commit-repourl: ${page}`]),
    `Argocd-reference-commit-date: ${date}`,
  ]
}

const oneLine = (text: string) => printable(text.replaceAll(/\s+/g, ' ').trim())

const isImage = ({ path }: MessageValue) => path.startsWith('spec.') && path.endsWith('].image')

/**
 * Returns `api 1.4.2 → 1.4.3` for each container whose image changes. Ignores helper containers of the Pod (waits,
 * copies), which do not belong to the application.
 */
function imageChanges(changes: readonly MessageObject[]): readonly string[] {
  const words = changes.flatMap(({ action, values }) =>
    action !== 'update'
      ? []
      : values.filter(isImage).flatMap(({ path, before, after }) => {
          const container = /\.containers\[([^\]]+)\]\.image$/.exec(path)?.[1]
          if (container === undefined || typeof before !== 'string' || typeof after !== 'string') return []
          return [`${container} ${versions(before, after)}`]
        }),
  )
  return [...new Set(words)]
}

/**
 * Returns `BEFORE → AFTER` with the parts by which users tell two references apart: the tags or, if these are equal,
 * the beginnings of the digests. If the names of the images differ, returns the full references.
 */
function versions(before: string, after: string): string {
  const [old, fresh] = [before, after].map(partsOf) as [Parts, Parts] // map keeps the length
  if (old.name !== fresh.name) return `${before} → ${after}`
  if (old.tag !== fresh.tag)
    return `${old.tag ?? short(old.digest) ?? 'latest'} → ${fresh.tag ?? short(fresh.digest) ?? 'latest'}`
  return `${short(old.digest) ?? old.tag ?? 'latest'} → ${short(fresh.digest) ?? fresh.tag ?? 'latest'}`
}

interface Parts {
  readonly name: string
  readonly tag: string | undefined
  readonly digest: string | undefined
}

function partsOf(image: string): Parts {
  const [named = image, digest] = image.split('@')
  const tag = /:([^:/]+)$/.exec(named)?.[1]
  return { name: tag === undefined ? named : named.slice(0, -tag.length - 1), tag, digest }
}

const short = (digest: string | undefined) => digest?.replace(/^sha256:/, '').slice(0, 7)

/** Returns the summary for a commit without new images: the objects, or their number if there are many. */
function summaryWords(changes: readonly MessageObject[]): readonly string[] {
  if (changes.length > 0 && changes.length <= 3) {
    const verbs = { create: 'add', update: 'change', replace: 'replace', delete: 'remove', keep: 'keep' } as const
    return changes.map(({ action, object }) => `${verbs[action]} ${object}`)
  }
  return countWords(changes)
}

/** Returns the numbers of objects: `2 objects changed`, `1 added`. */
function countWords(changes: readonly MessageObject[]): readonly string[] {
  const number = (...actions: readonly MessageObject['action'][]) =>
    changes.filter(({ action }) => actions.includes(action)).length
  const counts = [
    [number('update', 'replace'), 'changed'],
    [number('create'), 'added'],
    [number('delete'), 'removed'],
  ] as const
  return counts
    .filter(([count]) => count > 0)
    .map(([count, word], index) => `${index === 0 ? plural(count, 'object') : count} ${word}`)
}

function cut(head: string, words: readonly string[]): string {
  let text = head
  for (const [index, word] of words.entries()) {
    const next = `${text}${index === 0 ? '' : ', '}${word}`
    if (next.length > LONGEST_SUBJECT && index > 0) return `${text} and ${words.length - index} more`
    text = next
  }
  return words.length === 0 ? `${head}no object changed` : text
}

const MARKS = { create: '+', update: '~', replace: '!', delete: '-', keep: ' ' } as const

function objectLines({ action, object, values }: MessageObject): readonly string[] {
  return [`${MARKS[action]} ${object}`, ...values.map(value => `    ${valueLine(value)}`)]
}

function valueLine({ path, before, after, masked }: MessageValue): string {
  if (masked !== undefined) return `${path}: ${masked}`
  const [old, fresh] = [before, after].map(shortText)
  if (old === undefined) return `${path}: ${fresh} (new)`
  return fresh === undefined ? `${path}: ${old} (removed)` : `${path}: ${old} → ${fresh}`
}

function shortText(value: unknown): string | undefined {
  if (value === undefined) return undefined
  const text = typeof value === 'string' ? oneLine(value) : jsonText(value)
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}
