import type { RequestText } from '../../../adapters/forge/forge.ts'
import { plural } from '../../../compiler/diagnostics/render/summary.ts'
import { block, cell, code, details, prose, title } from '../../../compiler/values/markdown.ts'
import { diffBlock, type ValueChange } from './change-text.ts'

/** Change of one object, as in a diff of an environment. */
export interface ObjectChange {
  readonly action: 'create' | 'update' | 'replace' | 'delete' | 'keep'
  /** Kind and name, such as `deployment/web`. */
  readonly object: string
  readonly values: readonly ValueChange[]
  /** Effect of the change, as text. */
  readonly consequence?: string
}

export interface ImageChange {
  /** Name of the service or container that runs the image. */
  readonly name: string
  readonly before?: string
  readonly after?: string
}

/** Diagnostic of the compiler. */
export interface Remark {
  readonly severity: string
  /** Message text, with names in backticks. */
  readonly message: string
  /** Position, such as `compose.yml:8:11`. */
  readonly place?: string
}

export interface RequestContent {
  readonly environment: string
  readonly application: string
  /** Subject line of the commit, and title of the request: `deploy(shop/staging): web 1.4.2 → 1.4.3`. */
  readonly subject: string
  readonly changes: readonly ObjectChange[]
  /** Summary of the file changes, such as `2 files changed`, if the object changes are unknown. */
  readonly files?: string
  readonly images: readonly ImageChange[]
  readonly diagnostics: readonly Remark[]
  /** Source of the Compose files. Absent if they are in no repository. */
  readonly source?: {
    readonly repository?: string
    readonly commit: string
    /** True if uncommitted changes exist. */
    readonly isDirty?: boolean
    /** First line of the commit message. */
    readonly subject?: string
    /** URL of the commit's page, `https` or `http`. */
    readonly page?: string
  }
  /** Branch of the request. */
  readonly branch: string
  /** Folder in the repository. */
  readonly path: string
  /** Command that renders the same content again and compares it: `devctl publish --environment staging --verify`. */
  readonly verify: string
}

/** Number of rows shown without expanding. */
const SHOWN = 15
/** Number of diff lines shown without expanding. */
const SHOWN_LINES = 40
/** Maximum length of a title. The lowest limit of the forges is GitLab's, 255. */
const TITLE = 200

/**
 * Returns the text of a pull request for its reviewer: first the most important facts (images, objects, warnings), then
 * the source and how to verify the request, and last every value, so that truncating the body loses the least. Secret
 * values must already be masked. The text depends only on `content`.
 */
export function requestText(content: RequestContent): RequestText {
  const { environment, application, changes, files, path } = content
  const parts = [
    `Manifests of ${code(application)} for the environment ${code(environment)}, in ${code(path)}: ${files ?? countText(changes)}.`,
    imageTable(content.images),
    objectTable(changes),
    remarkList(content.diagnostics),
    sourceText(content),
    valueText(changes),
  ]
  return { title: title(content.subject, TITLE), body: `${parts.filter(part => part !== undefined).join('\n\n')}\n` }
}

const SIGNS: Readonly<Record<ObjectChange['action'], string>> = {
  create: '+',
  update: '~',
  replace: '±',
  delete: '-',
  keep: '=',
}
const DONE: Readonly<Record<ObjectChange['action'], string>> = {
  create: 'added',
  update: 'changed',
  replace: 'replaced',
  delete: 'removed',
  keep: 'kept',
}

function countText(changes: readonly ObjectChange[]): string {
  const count = (action: ObjectChange['action']) => changes.filter(change => change.action === action).length
  const actions = ['create', 'update', 'replace', 'delete'] as const
  const parts = actions.flatMap(action => (count(action) === 0 ? [] : [`${count(action)} ${DONE[action]}`]))
  return parts.length === 0 ? 'no object changes' : parts.join(', ')
}

function imageTable(images: readonly ImageChange[]): string | undefined {
  if (images.length === 0) return undefined
  const rows = images.map(({ name, before, after }) => {
    const shown = (image: string | undefined) => (image === undefined ? '' : cell(image))
    return `| ${cell(name)} | ${shown(before)} | ${shown(after)} |`
  })
  const table = ['| image of | before | after |', '| --- | --- | --- |', ...rows].join('\n')
  return heading('Images', images.length > SHOWN ? details(plural(images.length, 'image'), table) : table)
}

function objectTable(changes: readonly ObjectChange[]): string | undefined {
  if (changes.length === 0) return undefined
  const rows = changes.map(change => `| ${cell(SIGNS[change.action])} | ${cell(change.object)} | ${whatText(change)} |`)
  const table = ['|  | object | what |', '| --- | --- | --- |', ...rows].join('\n')
  return heading('Objects', changes.length > SHOWN ? details(plural(changes.length, 'object'), table) : table)
}

function whatText({ action, values, consequence }: ObjectChange): string {
  const what = action === 'update' && values.length > 0 ? plural(values.length, 'value') : DONE[action]
  return consequence === undefined ? what : `${what}: ${prose(consequence)}`
}

function remarkList(remarks: readonly Remark[]): string | undefined {
  if (remarks.length === 0) return undefined
  const lines = remarks.map(({ severity, message, place }) => {
    const at = place === undefined ? '' : ` (${code(place)})`
    return `- **${prose(severity)}**: ${prose(message)}${at}`
  })
  const list = lines.join('\n')
  return heading('Diagnostics', lines.length > SHOWN ? details(plural(lines.length, 'remark'), list) : list)
}

function sourceText(content: RequestContent): string {
  const note = `> devctl overwrites the branch ${code(content.branch)} with each publish: do not push to it. Change the source and publish again; this request is updated.`
  return heading('Source', [...originText(content), note].join('\n\n'))
}

function originText({ source, verify }: RequestContent): readonly string[] {
  if (!source) return ['Rendered from files outside a repository.']
  const { commit, repository, isDirty = false, subject, page } = source
  const short = code(commit.slice(0, 12))
  const parts = [
    `Rendered from commit ${page !== undefined && isPage(page) ? `[${short}](<${page}>)` : short}`,
    repository === undefined ? '' : ` of ${code(repository)}`,
    isDirty ? ', with changes that are not committed' : '',
    subject === undefined ? '' : `: ${prose(subject)}`,
  ]
  const check = [
    'After the merge, to check that the branch has exactly what that commit renders to:',
    block('sh', [`git checkout ${commit}`, verify]),
  ]
  // Uncommitted files cannot be rendered again.
  return [parts.join(''), ...(isDirty ? [] : check)]
}

/**
 * True if an address can be used as a link: its scheme is `http` or `https`, and it contains no characters that end the
 * link.
 */
const isPage = (text: string): boolean => /^https?:\/\/[^\s<>\\]+$/.test(text)

function valueText(changes: readonly ObjectChange[]): string | undefined {
  const blocks = changes.flatMap(change => {
    const lines = change.values.flatMap(diffBlock)
    return lines.length === 0 ? [] : [{ change, lines }]
  })
  if (blocks.length === 0) return undefined
  const isShort = blocks.reduce((sum, { lines }) => sum + lines.length, 0) <= SHOWN_LINES
  const all = blocks.map(({ change: { action, object, values }, lines }) =>
    details(`${SIGNS[action]} \`${object}\`: ${plural(values.length, 'value')}`, block('diff', lines), isShort),
  )
  return heading('Values', all.join('\n\n'))
}

const heading = (name: string, content: string): string => `### ${name}\n\n${content}`
