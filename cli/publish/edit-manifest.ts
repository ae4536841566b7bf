import type { Document, Node } from 'yaml'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/** What an environment is to say of secret values, by their paths. */
export interface SecretAnswers {
  readonly values: ReadonlyMap<string, { readonly secret: string; readonly key: string }>
  readonly public: readonly string[]
}

type Yaml = typeof import('yaml')

/**
 * The text of a manifest whose environment also says where secret values come from and what is public. Lines are added and nothing else changes, but where a mapping is written in one
 * line, or holds nothing: then the file is printed again, comments and all. Throws a UserError where the environment is an alias, or the text is no YAML.
 */
export async function withSecretAnswers(text: string, environment: string, answers: SecretAnswers): Promise<string> {
  const yaml = await import('yaml')
  const secrets = ['environments', environment, 'secrets']
  let edited = text
  for (const [path, source] of answers.values) edited = added(yaml, edited, [...secrets, 'values', path], source)
  for (const path of answers.public) edited = added(yaml, edited, [...secrets, 'public'], path)
  return edited
}

type Value = string | { readonly secret: string; readonly key: string }

/** Sets a value at a path; a text is one more item of the list there. */
function added(yaml: Yaml, text: string, path: readonly string[], value: Value): string {
  const document = yaml.parseDocument(text)
  const [error] = document.errors
  if (error) throw new UserError(`the manifest cannot be edited: ${error.message.split('\n', 1)[0]}`)
  refuseAliases(yaml, document, path)
  return inserted(yaml, document, text, path, value) ?? printed(yaml, document, text, path, value)
}

/** An alias stands for what is written elsewhere, and meant for others, too. */
function refuseAliases({ isAlias }: Yaml, document: Document, path: readonly string[]): void {
  for (let depth = 1; depth <= path.length; depth++)
    if (isAlias(document.getIn(path.slice(0, depth), true)))
      throw new UserError(`\`${path.slice(0, depth).join('.')}\` is an alias, to which nothing can be added`, {
        hint: 'write it as a mapping of its own',
      })
}

/** The text with lines below what is there of the path; undefined where that is not written in lines. */
function inserted(
  yaml: Yaml,
  document: Document,
  text: string,
  path: readonly string[],
  value: Value,
): string | undefined {
  const depth = path.findLastIndex((_, index) => document.getIn(path.slice(0, index + 1), true) !== undefined) + 1
  const node = document.getIn(path.slice(0, depth), true)
  if (depth < 2 || !yaml.isCollection(node) || node.flow || !node.range || node.items.length === 0) return undefined
  if (yaml.isSeq(node) !== (depth === path.length)) return undefined
  const start = node.range[0]
  const indent = text.slice(text.lastIndexOf('\n', start - 1) + 1, start)
  if (indent.trim() !== '') return undefined
  const lines = linesOf(yaml, path.slice(depth), value).map(line => `${indent}${line}`)
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const at = lineEnd(text, endOf(yaml, node))
  const isLast = at === text.length && !text.endsWith('\n')
  return `${text.slice(0, at)}${isLast ? eol : ''}${lines.join(eol)}${isLast ? '' : eol}${text.slice(at)}`
}

/** Where the last thing ends that stands in a node. */
function endOf(yaml: Yaml, node: Node): number {
  if (!yaml.isCollection(node) || node.flow) return node.range![1]
  const last = node.items.at(-1)
  const inner = yaml.isPair(last) ? (last.value ?? last.key) : last
  return yaml.isNode(inner) && inner.range ? endOf(yaml, inner) : node.range![1]
}

/** After the line break that follows; a block of text ends in its own. */
function lineEnd(text: string, offset: number): number {
  if (text[offset - 1] === '\n') return offset
  const next = text.indexOf('\n', offset)
  return next === -1 ? text.length : next + 1
}

function linesOf(yaml: Yaml, keys: readonly string[], value: Value): readonly string[] {
  const [key, ...rest] = keys
  const print = (text: string) => yaml.stringify(text, { lineWidth: 0 }).trimEnd()
  if (key === undefined) return [`- ${print(String(value))}`]
  if (rest.length === 0 && typeof value !== 'string')
    return [`${print(key)}: {secret: ${print(value.secret)}, key: ${print(value.key)}}`]
  return [`${print(key)}:`, ...linesOf(yaml, rest, value).map(line => `  ${line}`)]
}

function printed(yaml: Yaml, document: Document, text: string, path: readonly string[], value: Value): string {
  // What has no value would be in the way.
  const empty = path.findIndex((_, index) => !yaml.isCollection(document.getIn(path.slice(0, index + 1), true)))
  if (empty !== -1) document.deleteIn(path.slice(0, empty + 1))
  if (typeof value === 'string') {
    if (document.hasIn(path)) document.addIn(path, value)
    else document.setIn(path, document.createNode([value]))
  } else document.setIn(path, document.createNode(value, { flow: true }))
  const again = document.toString({ lineWidth: 0, flowCollectionPadding: /\{ /.test(text) })
  return text.includes('\r\n') ? again.replaceAll('\n', '\r\n') : again
}
