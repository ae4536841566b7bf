import type { Manifest } from './manifest.ts'
import { printKey, printString } from './yaml-string.ts'

/**
 * Prints a value as YAML in one fixed style: two spaces, lists indented under their key, multi-line text as literal
 * blocks, never folded. YAML 1.1, YAML 1.2 and Go parsers all read it back as `value`, which is plain JSON. Omits
 * undefined map entries. The output ends in a line feed.
 */
export function printYaml(value: unknown): string {
  if (isEmpty(value)) return `${inline(value, undefined)}\n`
  const lines: string[] = []
  // The lines of the top level have no prefix.
  if (Array.isArray(value)) printList(value, '', '', lines)
  else printMap(value as JsonMap, '', '', lines)
  return `${lines.join('\n')}\n`
}

/** Prints the document of an object: a comment with its source, and the object. */
export function printDocument(manifest: Manifest): string {
  return `# ${oneLine(manifest.source)}\n${printYaml(manifest.object)}`
}

/** Prints the documents of all objects, as `kubectl apply -f -` accepts them. */
export function printStream(manifests: readonly Manifest[]): string {
  return manifests.map(printDocument).join('---\n')
}

type JsonMap = Readonly<Record<string, unknown>>

/**
 * Prints a map into `lines`. The first line of the map starts with `first`, which is indentation or the dash of a list
 * item; the other lines start with `indent`.
 */
function printMap(map: JsonMap, first: string, indent: string, lines: string[]): void {
  let start = first
  for (const key in map) {
    const value = map[key]
    if (value === undefined) continue
    const head = `${start}${printKey(key)}:`
    if (isEmpty(value)) lines.push(`${head} ${inline(value, indent)}`)
    else {
      lines.push(head)
      printNested(value, `${indent}  `, lines)
    }
    start = indent
  }
}

function printList(list: readonly unknown[], first: string, indent: string, lines: string[]): void {
  let start = first
  for (const item of list) {
    const head = `${start}- `
    if (isEmpty(item)) lines.push(`${head}${inline(item ?? null, indent)}`)
    else if (Array.isArray(item)) printList(item, head, `${indent}  `, lines)
    else printMap(item as JsonMap, head, `${indent}  `, lines)
    start = indent
  }
}

function printNested(value: unknown, indent: string, lines: string[]): void {
  if (Array.isArray(value)) printList(value, indent, indent, lines)
  else printMap(value as JsonMap, indent, indent, lines)
}

/**
 * Returns true if a value is printed on the line of its key or dash, or starts there as a block of text. This applies
 * to every value except non-empty maps and lists.
 */
function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.length === 0
  for (const key in value) if ((value as JsonMap)[key] !== undefined) return false
  return true
}

/** Prints a value within a line. `indent` is the indentation of the parent map or list; undefined at the top level. */
function inline(value: unknown, indent: string | undefined): string {
  switch (typeof value) {
    case 'string':
      return printString(value, indent)
    case 'number':
      return printNumber(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      return value === null ? 'null' : Array.isArray(value) ? '[]' : '{}'
    default:
      throw new Error(`a manifest cannot hold a ${typeof value}`)
  }
}

/**
 * Prints a number. YAML 1.1 requires a dot in a number with an exponent. Throws an Error for a number that is not
 * finite.
 */
function printNumber(value: number): string {
  if (!Number.isFinite(value)) throw new Error(`a manifest cannot hold ${value}`)
  return String(value).replace(/^(-?\d+)e/, '$1.0e')
}

/**
 * Replaces control characters and line breaks in the text of a comment. A file name may contain a line break, which
 * would end the comment.
 */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, '?')
}
