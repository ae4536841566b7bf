import { isDeepStrictEqual } from 'node:util'
import type { Document } from 'yaml'
import { refuse, type YamlProblem } from './yaml-path.ts'

/**
 * Removes an entry of a mapping, or an item of a list, from a YAML text, together with its lines. A mapping or list
 * that becomes empty is removed, too. No other byte changes, except that one of two blank lines is removed if they
 * would become neighbors. Returns the text unchanged if the entry does not exist, or a clause that explains why the
 * text cannot be edited.
 */
export async function removeFromYaml(
  text: string,
  path: readonly (string | number)[],
): Promise<{ readonly ok: true; readonly text: string } | YamlProblem> {
  const yaml = await import('yaml')
  const parse = (from: string): Document => yaml.parseDocument(from, { schema: 'failsafe', keepSourceTokens: true })
  const document = parse(text)
  const [error] = document.errors
  if (error) return refuse(`it is not valid YAML (line ${error.linePos?.[0].line})`)
  if (!document.hasIn(path)) return { ok: true, text }
  let steps = path
  for (;;) {
    const parent: unknown = document.getIn(steps.slice(0, -1), true)
    if (steps.length < 2 || !yaml.isCollection(parent) || parent.items.length > 1) break
    steps = steps.slice(0, -1)
  }
  const parent: unknown = steps.length === 1 ? document.contents : document.getIn(steps.slice(0, -1), true)
  if (!yaml.isCollection(parent)) return refuse(`\`${path.join('.')}\` is an alias`)
  const last = steps.at(-1)!
  const index = yaml.isSeq(parent)
    ? Number(last)
    : parent.items.findIndex(one => yaml.isPair(one) && yaml.isScalar(one.key) && one.key.value === last)
  const item = parent.items[index]
  const next = parent.items[index + 1]
  document.deleteIn(steps)
  if (!hasAnchors(yaml, document)) return refuse(`\`${path.join('.')}\` has an anchor that is used elsewhere`)
  const wanted = document.toJS({ maxAliasCount: -1 })
  const around = { previous: parent.items[index - 1], item, next }
  const edited = parent.flow ? withoutFlowItem(yaml, text, around) : withoutLines(yaml, text, around)
  const again = edited === undefined ? undefined : parse(edited)
  if (again?.errors.length === 0 && isDeepStrictEqual(again.toJS({ maxAliasCount: -1 }) ?? {}, wanted ?? {}))
    return { ok: true, text: edited! }
  return { ok: true, text: document.toString({ lineWidth: 0 }) }
}

type Yaml = typeof import('yaml')

/** Returns true if every alias has its anchor. */
function hasAnchors(yaml: Yaml, document: Document): boolean {
  let hasAll = true
  yaml.visit(document, {
    Alias: (_, alias) => {
      hasAll &&= alias.resolve(document) !== undefined
    },
  })
  return hasAll
}

/** An item of a collection, with the items beside it. */
interface Around {
  readonly previous: unknown
  readonly item: unknown
  readonly next: unknown
}

/** Removes the lines of an item of a block collection; undefined if its position is unknown. */
function withoutLines(yaml: Yaml, text: string, { item, next }: Around): string | undefined {
  const start = startOf(yaml, item)
  if (start === undefined) return undefined
  const from = lineStart(text, start)
  const following = startOf(yaml, next)
  const to = following === undefined ? endOf(yaml, text, item) : lineStart(text, following)
  // The first key of a mapping in a list is on the line of the dash, which the next key then gets.
  const dash = /^[ \t]*(?:-[ \t]+)+/.exec(text.slice(from, start))?.[0]
  if (dash !== undefined && yaml.isPair(item) && following !== undefined)
    return text.slice(0, from) + text.slice(keepComments(text, from, to), to) + dash + text.slice(following)
  const before = text.slice(0, from)
  const rest = text.slice(keepComments(text, from, to))
  const isDouble = /(?:^|\n)[ \t]*\r?\n$/.test(before) || before === ''
  return before + (isDouble ? rest.replace(before === '' ? /^(?:[ \t]*\r?\n)+/ : /^[ \t]*\r?\n/, '') : rest)
}

/** Removes an item of a flow collection with one comma beside it; undefined if its position is unknown. */
function withoutFlowItem(yaml: Yaml, text: string, { previous, item, next }: Around): string | undefined {
  const [start, following] = [startOf(yaml, item), startOf(yaml, next)]
  if (start === undefined) return undefined
  if (following !== undefined) return text.slice(0, start) + text.slice(following)
  const before = valueEnd(yaml, previous)
  const end = valueEnd(yaml, item)
  return before === undefined || end === undefined ? undefined : text.slice(0, before) + text.slice(end)
}

const lineStart = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1

function valueEnd(yaml: Yaml, item: unknown): number | undefined {
  const node = yaml.isPair(item) ? (item.value ?? item.key) : item
  return yaml.isNode(node) ? node.range?.[1] : undefined
}

function startOf(yaml: Yaml, item: unknown): number | undefined {
  const node = yaml.isPair(item) ? item.key : item
  return yaml.isNode(node) ? node.range?.[0] : undefined
}

function endOf(yaml: Yaml, text: string, item: unknown): number {
  const end = valueEnd(yaml, item) ?? text.length
  if (text[end - 1] === '\n') return end
  const next = text.indexOf('\n', end)
  return next < 0 ? text.length : next + 1
}

/** Returns the end of the lines to remove. Comments and empty lines in front of the next entry are kept. */
function keepComments(text: string, from: number, to: number): number {
  const lines = text.slice(from, to).split(/(?<=\n)/)
  let end = to
  for (const line of lines.slice(1).toReversed()) {
    if (!/^\s*(?:#.*)?\s*$/.test(line)) break
    end -= line.length
  }
  return end
}
