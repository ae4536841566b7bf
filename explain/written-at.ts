import type { Loaded } from '../compiler/compose/load/loaded.ts'
import { formatPath, type ModelPath } from '../compiler/schema/model-path.ts'
import type { Span } from '../compiler/text/source.ts'
import { get } from '../compiler/text/tree.ts'
import { isWorkload, type ModelNode, nodesBelow } from './model-node.ts'

/** Way by which a value that is not written at its own key came to the key. */
export interface Detour {
  readonly through: 'anchor' | 'extends' | 'include'
  /** Path of the place where the value is written, in its own file, such as `x-common.restart`. */
  readonly path: string
}

/**
 * Returns the way by which a value came to its key, if it is written at another place: through an anchor, `extends` or
 * `include`. Undefined for a value that is written at its own key, and for a value from an env file.
 */
export function detourOf({ path, tree: { span } }: ModelNode, loaded: Loaded): Detour | undefined {
  const written = writtenPath(span, loaded)
  if (!written) return undefined
  const [section, name] = written
  const isOwn = section === path[0] && name === path[1]
  if (isOwn) return isNamed(span, loaded) ? undefined : { through: 'include', path: formatPath(written) }
  const through = isWorkload(written) && extendsAny(path, loaded) ? 'extends' : 'anchor'
  return { through, path: formatPath(written) }
}

/**
 * Returns the path of the first value in the documents at a position; undefined if there is none. An anchor comes
 * before its aliases, so the path of the anchor is returned.
 */
function writtenPath({ file, start, end }: Span, { documents }: Loaded): ModelPath | undefined {
  let found: ModelPath | undefined
  for (const document of documents) {
    if (document.span.file !== file) continue
    for (const { path, tree } of nodesBelow({ path: [], tree: document }))
      if (tree.span.file === file && tree.span.start <= start && tree.span.end >= end) {
        if (tree.span.start === start && tree.span.end === end) return path
        if (tree.kind === 'scalar') found ??= path
      }
  }
  return found
}

const isNamed = ({ file }: Span, { files }: Loaded): boolean =>
  files.includes(file.location) || file.location === 'standard input'

const extendsAny = ([section, name]: ModelPath, { documents }: Loaded): boolean =>
  documents.some(document => get(document, String(section), String(name), 'extends') !== undefined)
