import type { DroppedValue, Loaded } from '../compiler/compose/load/loaded.ts'
import { formatPath } from '../compiler/schema/model-path.ts'
import type { Span } from '../compiler/text/source.ts'
import { type ModelNode, nodeAt, nodesBelow } from './model-node.ts'
import type { SourceLine } from './source-line.ts'

/** Line without its text. The text may contain a secret that is not masked because nothing in the model uses it. */
type Place = Omit<SourceLine, 'text'>

/** Line whose value a tag of a later file removes. */
export interface DroppedLine {
  /** Path in the model of the value that is removed, such as `services.web.ports`. */
  readonly path: string
  readonly line: Place
  readonly tag: '!override' | '!reset'
  /** Line of the tag. */
  readonly by: Place
}

interface Dropped {
  readonly shown: DroppedLine
  /** Value of the later file, if the tag is `!override`. */
  readonly replacement?: readonly ModelNode[]
}

/** Returns the values that a line sets, but that a `!reset` or `!override` of a later file removes. */
export function droppedOn(loaded: Loaded, isFile: (span: Span) => boolean, line: number): readonly Dropped[] {
  return loaded.dropped.flatMap(value => {
    const here = spansOf(value).find(span => isFile(span) && isOn(span, line))
    return here ? [toDropped(value, here, loaded)] : []
  })
}

function toDropped({ path, tag }: DroppedValue, here: Span, loaded: Loaded): Dropped {
  const isReset = tag.file.text.slice(tag.start, tag.end).startsWith('!reset')
  const shown: DroppedLine = {
    path: formatPath(path),
    line: placeOf(here),
    tag: isReset ? '!reset' : '!override',
    by: placeOf(tag),
  }
  const replacement = isReset ? undefined : nodeAt(loaded.tree, path)
  return { shown, ...(replacement && { replacement: [replacement] }) }
}

const placeOf = ({ file, start }: Span): Place => ({ file: file.path, ...file.position(start) })

/** Returns the positions of a value, its key, and all values inside it. */
function spansOf({ key, tree }: DroppedValue): readonly Span[] {
  const below = [...nodesBelow({ path: [], tree })].flatMap(one =>
    one.key ? [one.key, one.tree.span] : [one.tree.span],
  )
  return key ? [key, ...below] : below
}

/** True if a span begins on a line. */
const isOn = ({ file, start }: Span, line: number): boolean => file.position(start).line === line
