import { isDeepStrictEqual } from 'node:util'
import type { Document } from 'yaml'
import { refuse, type YamlProblem } from './yaml-path.ts'

/**
 * Removes an entry of a mapping, or an item of a list, from a YAML text, with the lines that it is on; a mapping or
 * list that becomes empty is removed, too. Returns the text as it is if the entry does not exist, or a clause that
 * explains why the text cannot be edited.
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
  const wanted = document.toJS({ maxAliasCount: -1 })
  const start = startOf(yaml, item)
  if (start !== undefined && !parent.flow) {
    const from = text.lastIndexOf('\n', start - 1) + 1
    const following = startOf(yaml, next)
    const to = following === undefined ? endOf(yaml, text, item) : text.lastIndexOf('\n', following - 1) + 1
    const rest = text.slice(keepComments(text, from, to))
    const edited = text.slice(0, from) + (from === 0 ? rest.replace(/^(?:[ \t]*\r?\n)+/, '') : rest)
    const again = parse(edited)
    if (again.errors.length === 0 && isDeepStrictEqual(again.toJS({ maxAliasCount: -1 }) ?? {}, wanted ?? {}))
      return { ok: true, text: edited }
  }
  return { ok: true, text: document.toString({ lineWidth: 0 }) }
}

type Yaml = typeof import('yaml')

function startOf(yaml: Yaml, item: unknown): number | undefined {
  const node = yaml.isPair(item) ? item.key : item
  return yaml.isNode(node) ? node.range?.[0] : undefined
}

function endOf(yaml: Yaml, text: string, item: unknown): number {
  const node = yaml.isPair(item) ? (item.value ?? item.key) : item
  const end = yaml.isNode(node) ? (node.range?.[1] ?? text.length) : text.length
  if (text[end - 1] === '\n') return end
  const next = text.indexOf('\n', end)
  return next < 0 ? text.length : next + 1
}

/** Returns the end of the lines to remove, without the comments and empty lines in front of the next entry. */
function keepComments(text: string, from: number, to: number): number {
  const lines = text.slice(from, to).split(/(?<=\n)/)
  let end = to
  for (const line of lines.slice(1).toReversed()) {
    if (!/^\s*(?:#.*)?$/.test(line)) break
    end -= line.length
  }
  return end
}
