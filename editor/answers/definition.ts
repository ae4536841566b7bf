import { dirname, resolve } from 'node:path'
import type { Location } from 'vscode-languageserver-protocol'
import { nodeAt, type OutlineNode } from '../text/outline-node.ts'
import { type Place, placeAt } from '../text/place.ts'
import { effectiveAt } from './effective.ts'
import { spanOfName } from './known-names.ts'
import { documentOf, rangeOf, toLocation, uriOf } from './positions.ts'
import type { AskedDocument } from './question.ts'
import { nameIn, referenceAt } from './references.ts'

/** Returns the kind of the file at an absolute path; undefined if it does not exist. */
export type KindOfPath = (path: string) => 'file' | 'folder' | undefined

/** Returns the position of the thing that the text at an offset refers to: an anchor, a variable, a name or a file. */
export function definitionAt(asked: AskedDocument, offset: number, kindOf: KindOfPath): Location | undefined {
  const alias = wordAround(asked, offset, /\*[^\s,[\]{}]+/g)
  if (alias !== undefined) return ofAnchor(asked, alias.slice(1), offset)
  const variable = wordAround(asked, offset, /\$\{?[A-Za-z_]\w*/g)
  if (variable !== undefined) return ofVariable(asked, variable.replace(/^\$\{?/, ''), offset)
  const place = placeAt(asked.outline, offset)
  if (!place || place.text === '') return undefined
  return ofReference(asked, place, offset, kindOf)
}

function ofReference(asked: AskedDocument, place: Place, offset: number, kindOf: KindOfPath): Location | undefined {
  const path = place.kind === 'key' ? [...place.path, place.text] : place.path
  const kind = referenceAt(asked, path)
  if (kind === undefined) return undefined
  const part = nameIn(kind, place.text)
  if (part) return part.section === 'profiles' ? undefined : ofName(asked, part.section, part.name, place, kindOf)
  const written = kind === 'mount' ? place.text.split(':')[0]! : place.text
  return ofFile(asked, written, offset, kindOf)
}

function ofName(
  asked: AskedDocument,
  section: string,
  name: string,
  { node }: Place,
  kindOf: KindOfPath,
): Location | undefined {
  const file = section === 'services' ? extendedFile(node) : undefined
  if (file !== undefined) {
    const path = pathsOf(asked, file).find(path => kindOf(path) === 'file')
    if (path === undefined) return undefined
    const span = spanOfName(asked, section, name, path)
    return span ? toLocation(span) : { uri: uriOf(path), range: START }
  }
  const own = asked.kind === 'compose' ? nodeAt(asked.outline, [section, name]) : undefined
  if (own) return here(asked, own.start, own.end)
  const span = spanOfName(asked, section, name)
  return span && toLocation(span)
}

/**
 * Returns the value of `file` in an `extends` mapping if the node is the `service` of that mapping; undefined for any
 * other node.
 */
function extendedFile(node: OutlineNode | undefined): string | undefined {
  if (node?.step !== 'service' || node.parent?.step !== 'extends') return undefined
  return node.parent.children.find(({ step }) => step === 'file')?.scalar?.text
}

const START = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }

function ofFile(asked: AskedDocument, written: string, offset: number, kindOf: KindOfPath): Location | undefined {
  const value = effectiveAt(asked, offset)?.scalar.value
  const paths = [...(typeof value === 'string' && value.startsWith('/') ? [value] : []), ...pathsOf(asked, written)]
  for (const path of paths) {
    const kind = kindOf(path)
    if (kind === 'file') return { uri: uriOf(path), range: START }
    // A build context is a folder; its Dockerfile says more.
    if (kind === 'folder' && kindOf(`${path}/Dockerfile`) === 'file')
      return { uri: uriOf(`${path}/Dockerfile`), range: START }
  }
  return undefined
}

/**
 * Returns the absolute paths that a relative path may mean: relative to the folder of the document, and to the folders
 * of the project.
 */
function pathsOf({ path, project }: AskedDocument, written: string): readonly string[] {
  if (written === '' || /[$\0\n]|:\/\//.test(written)) return []
  const { loaded, manifest } = project?.compiled ?? {}
  const folders = [dirname(path), loaded?.directory, manifest?.folder, project?.folder]
  return [...new Set(folders.flatMap(folder => (folder === undefined ? [] : [resolve(folder, written)])))]
}

function ofAnchor(asked: AskedDocument, name: string, offset: number): Location | undefined {
  const node = asked.outline.all.findLast(({ anchor, start }) => anchor === name && start < offset)
  const at = node && asked.outline.text.indexOf(`&${name}`, node.end)
  return at === undefined || at < 0 ? undefined : here(asked, at, at + name.length + 1)
}

/** Returns the position at which an env file sets a variable; undefined if no env file sets it. */
function ofVariable(asked: AskedDocument, name: string, offset: number): Location | undefined {
  const { project } = asked
  const used = effectiveAt(asked, offset)?.scalar.variables?.find(one => one.name === name)
  const [, shown, line] = /^(.*):(\d+)$/.exec(used?.origin ?? '') ?? []
  if (project && shown !== undefined) {
    const start = { line: Number(line) - 1, character: 0 }
    return { uri: uriOf(resolve(project.folder, shown)), range: { start, end: start } }
  }
  for (const [path, text] of project?.envFiles ?? []) {
    const found = new RegExp(`^[ \\t]*(?:export[ \\t]+)?(${name})[ \\t]*[=:]`, 'm').exec(text)
    if (!found) continue
    const start = found.index + found[0].indexOf(name)
    return { uri: uriOf(path), range: rangeOf(documentOf(text), start, start + name.length) }
  }
  return undefined
}

const here = ({ document }: AskedDocument, start: number, end: number): Location => ({
  uri: document.uri,
  range: rangeOf(document, start, end),
})

/**
 * Returns the part of a line that matches an expression and contains or touches an offset. Searches only the line of
 * the offset; undefined if no match is there.
 */
function wordAround({ document }: AskedDocument, offset: number, expression: RegExp): string | undefined {
  const text = document.getText()
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const end = text.indexOf('\n', offset)
  const line = text.slice(start, end < 0 ? text.length : end)
  for (const found of line.matchAll(expression))
    if (start + found.index <= offset && offset <= start + found.index + found[0].length) return found[0]
  return undefined
}
