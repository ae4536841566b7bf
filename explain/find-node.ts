import { shapeAt } from '../compiler/compose/keys/lookup.ts'
import type { Loaded } from '../compiler/compose/load/loaded.ts'
import { didYouMean } from '../compiler/diagnostics/suggest.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { formatPath } from '../compiler/schema/model-path.ts'
import type { Span } from '../compiler/text/source.ts'
import { get, type UsedVariable } from '../compiler/text/tree.ts'
import { childrenOf, isWorkload, type ModelNode, nodesBelow } from './model-node.ts'

/** Returns the node at a path. Throws a UserError with the existing keys if there is none. */
export function findNode(path: readonly (string | number)[], loaded: Loaded): ModelNode {
  let node: ModelNode = { path: [], tree: loaded.tree }
  const [section, name] = path
  // A job is among the services of other outputs.
  const isOfJob = section === 'services' && get(loaded.tree, 'jobs', String(name)) !== undefined
  for (const step of isOfJob ? ['jobs', ...path.slice(1)] : path) {
    const children = childrenOf(node)
    const next = children.find(child => String(child.path.at(-1)) === String(step))
    if (!next) throw noSuchKey(node, step, children, loaded)
    node = next
  }
  return node
}

function noSuchKey({ path }: ModelNode, step: string | number, children: readonly ModelNode[], loaded: Loaded) {
  const own = path.length === 0 ? '' : ` in \`${formatPath(path)}\``
  const names = children.map(child => String(child.path.at(-1)))
  if (path.length === 1 && isWorkload(path) && loaded.absentServices.has(String(step)))
    return new UserError(`${path[0] === 'jobs' ? 'job' : 'service'} \`${step}\` is not active`, {
      hint: 'add `--profile` with one of its profiles',
    })
  const other = path[0] === 'jobs' ? 'services' : 'jobs'
  if (path.length === 1 && isWorkload(path) && get(loaded.tree, other, String(step)))
    return new UserError(`\`${step}\` does not exist${own}`, { hint: `write \`${other}.${step}\`` })
  const isKnown = shapeAt([...path, step].map(String)) !== undefined
  const hint =
    didYouMean(String(step), names) ?? (names.length > 0 ? `it has ${names.map(quoted).join(', ')}` : undefined)
  return new UserError(
    isKnown && path.length > 1 && typeof step === 'string'
      ? `no line sets \`${formatPath([...path, step])}\``
      : `\`${step}\` does not exist${own}`,
    hint === undefined ? {} : { hint },
  )
}

const quoted = (name: string) => `\`${name}\``

/**
 * Returns the nodes at a line, or at a position in it. For a line, only the outermost nodes; for a position, only the
 * innermost.
 */
export function nodesOn(loaded: Loaded, isFile: (span: Span) => boolean, line: number, column?: number) {
  const all = [...nodesBelow({ path: [], tree: loaded.tree })].filter(
    ({ path, isImplied }) => !isImplied && (path.length > 1 || isLeaf(path)) && !isExtension(path),
  )
  const at = (span: Span | undefined): boolean => {
    if (!span || !isFile(span)) return false
    const start = span.file.position(span.start)
    if (column === undefined) return start.line === line
    const end = span.file.position(Math.max(span.start, span.end))
    return start.line === line && start.column <= column && (end.line > line || column <= end.column)
  }
  const found = all.filter(
    node => at(node.key) || (isStart(node) && at(node.tree.span)) || isInText(node.tree, line, isFile),
  )
  return column === undefined ? outermost(found) : innermost(found)
}

/**
 * True if the line of a value belongs to the value itself. False for the value of a key if the value has members that
 * are written in a file. Such a value begins at its first member, for example behind an alias, so its line belongs to
 * that member.
 */
const isStart = (node: ModelNode): boolean => !node.key || childrenOf(node).every(({ isImplied }) => isImplied)

const isLeaf = ([section]: ModelNode['path']): boolean => section === 'endpoints' || section === 'name'

const isExtension = ([section]: ModelNode['path']): boolean => String(section).startsWith('x-')

/** True if the lines of a scalar, such as a text of several lines, include the line. */
function isInText(tree: ModelNode['tree'], line: number, isFile: (span: Span) => boolean): boolean {
  if (tree.kind !== 'scalar' || !isFile(tree.span)) return false
  const { file, start, end } = tree.span
  return file.position(start).line <= line && line <= file.position(Math.max(start, end - 1)).line
}

const isWithin = (inner: ModelNode, outer: ModelNode): boolean =>
  inner.path.length > outer.path.length && outer.path.every((step, index) => step === inner.path[index])

const outermost = (nodes: readonly ModelNode[]): readonly ModelNode[] =>
  nodes.filter(node => !nodes.some(other => isWithin(node, other)))

const innermost = (nodes: readonly ModelNode[]): readonly ModelNode[] =>
  nodes.filter(node => !nodes.some(other => isWithin(other, node)))

/** Returns the nodes whose values replaced a value on the line. */
export function replacedOn(loaded: Loaded, isFile: (span: Span) => boolean, line: number): readonly ModelNode[] {
  return [...nodesBelow({ path: [], tree: loaded.tree })].filter(({ tree }) =>
    tree.replaced?.some(span => isFile(span) && span.file.position(span.start).line === line),
  )
}

/** Returns the nodes with variables whose values are set on a line of an env file. `isShown` compares shown paths. */
export function variablesOn(loaded: Loaded, isShown: (path: string) => boolean, line: number): readonly ModelNode[] {
  const isHere = ({ origin }: UsedVariable) => {
    const [, shown, at] = /^(.*):(\d+)$/.exec(origin) ?? []
    return shown !== undefined && Number(at) === line && isShown(shown)
  }
  return [...nodesBelow({ path: [], tree: loaded.tree })].filter(
    ({ tree }) => tree.kind === 'scalar' && tree.variables?.some(isHere),
  )
}
