import type { Pair } from '../compose/project.ts'
import { entries, integerOf, items, nonEmptyText, scalar, sortByName, textOf } from '../compose/read/tree-values.ts'
import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import { formatPath, type ModelPath } from '../schema/model-path.ts'
import { reportAlteredScalar } from '../text/altered-scalars.ts'
import { reportToken } from '../text/interpolate.ts'
import { isMadeOfSecret } from '../text/secret-places.ts'
import type { At } from '../text/source.ts'
import { spanInside } from '../text/span-inside.ts'
import type { Lookup } from '../text/template.ts'
import type { ScalarTree, ScalarType, Tree } from '../text/tree.ts'
import { scalarText } from '../text/tree-text.ts'
import { parseImageReference } from '../values/images/image-reference.ts'
import { parseDuration } from '../values/numbers/duration.ts'
import { type Parsed, parsed } from '../values/parsed.ts'
import { isOpen, isUnread } from './variables.ts'

// Readers for the values of a manifest. The structure has already been checked, so a value with a wrong structure
// counts as absent. A value that is not known yet, because it uses a variable that is set later, counts as absent as
// well.

const badValue = diagnostic({
  code: 'manifest/bad-value',
  severity: 'error',
  explain: `A value of the manifest cannot be parsed: a port that is not a number, an unknown unit of a duration, a folder to synchronise without the path in the container. The message says what is wrong, and the hint what to write. The forms are:

| key | form |
|---|---|
| \`sync\` | \`LOCAL:REMOTE\`, with an absolute path in the container: \`.:/app\` |
| \`forward\` | \`LOCAL:REMOTE\`, \`LOCAL:SERVICE:REMOTE\`: \`8080:api:80\` |
| \`reverse\` | \`REMOTE:LOCAL\`: \`9000:9000\` |
| \`secrets\` | \`LOCAL:REMOTE\`, \`LOCAL:REMOTE:MODE\`: \`~/.npmrc:/root/.npmrc:600\` |
| \`externalVolumes\` | \`CLAIM:PATH\`, \`CLAIM:SUBPATH:PATH\` |
| durations | \`90s\`, \`2m30s\`, or seconds |
| quantities | \`500m\`, \`512Mi\` |

\`docs/manifest.md\` lists all of them.`,
  text: (p: { path: ModelPath; value: string; reason: string; hint?: string | undefined }) => ({
    message: `\`${formatPath(p.path)}\` is \`${p.value}\`: ${p.reason}`,
    hint: p.hint,
  }),
})

/** The context that the readers of a manifest share. */
export interface Reading {
  readonly reporter: Reporter
  /** Variables of the shell, of `.env` beside the manifest, and of the platform. */
  readonly lookup: Lookup
  /** Absolute path of the manifest's folder. */
  readonly folder: string
}

/**
 * Parses a scalar with the function `parse`. Reports an error at the invalid part of the text and returns undefined.
 * The message shows the text before substitution, because the value of a variable may be a secret.
 */
export function parseScalar<T>(
  tree: Tree | undefined,
  path: ModelPath,
  parse: (text: string) => Parsed<T>,
  { reporter }: Pick<Reading, 'reporter'>,
  types: readonly ScalarType[] = ['string'],
): At<T> | undefined {
  const found = scalar(tree)
  if (!found || isOpen(found) || !types.includes(found.type)) return undefined
  const value = String(found.value)
  const result = parse(value)
  if (result.ok) return { value: result.value, span: found.span }
  const { reason, hint, start, end } = result
  const span = start === undefined || end === undefined ? found.span : spanInside(found, start, end)
  reporter.report(badValue, span, { path, value: found.template ?? value, reason, hint })
  return undefined
}

/**
 * Returns the text at a path. Returns undefined if there is no text, if it is empty, or if its variables were not
 * substituted. References to variables that only a build or a dependency sets remain in the text.
 */
export function known(tree: Tree | undefined, ...path: readonly string[]): At<string> | undefined {
  const found = scalar(tree, ...path)
  return found && isText(found) && !isUnread(found) ? nonEmptyText(found) : undefined
}

/** Reads an image reference as it is written. Reports an invalid reference. */
export const readImage = (tree: Tree | undefined, path: ModelPath, reading: Reading): At<string> | undefined =>
  parseScalar(tree, path, parseImage, reading)

function parseImage(text: string): Parsed<string> {
  const read = parseImageReference(text)
  return read.ok ? parsed(text) : read
}

/** Returns the text of a scalar, or the texts of a list. */
export function texts(tree: Tree | undefined): readonly At<string>[] {
  const all = tree?.kind === 'scalar' ? [tree] : items(tree)
  return all.flatMap(item => (isText(item) && !isUnread(item) ? [textOf(item)] : []))
}

/** True for text. A date counts as text, because it is written like text and only YAML gives it a type of its own. */
const isText = (tree: Tree): tree is ScalarTree =>
  tree.kind === 'scalar' && (tree.type === 'string' || tree.type === 'date')

/** Types for values that may also be written as numbers. */
export const NUMERIC: readonly ScalarType[] = ['string', 'int', 'float']

/** Reads a boolean, or the text `true` or `false`. */
export function readFlag(
  tree: Tree | undefined,
  path: ModelPath,
  reading: Pick<Reading, 'reporter'>,
): At<boolean> | undefined {
  return parseScalar(
    tree,
    path,
    text =>
      text === 'true' || text === 'false'
        ? { ok: true, value: text === 'true' }
        : { ok: false, reason: 'it is neither `true` nor `false`', hint: 'write `true` or `false`' },
    reading,
    ['string', 'bool'],
  )
}

/** Reads an integer, or text that contains an integer. */
export function readInteger(
  tree: Tree | undefined,
  path: ModelPath,
  reading: Pick<Reading, 'reporter'>,
): At<number> | undefined {
  const found = scalar(tree)
  const value = found && integerOf(found)
  if (found && value !== undefined) return { value, span: found.span }
  return parseScalar(tree, path, () => ({ ok: false, reason: 'it is not a whole number' }), reading)
}

/** Reads a duration in milliseconds. A number without a unit is in seconds. */
export function readTimeout(
  tree: Tree | undefined,
  path: ModelPath,
  reading: Pick<Reading, 'reporter'>,
): At<number> | undefined {
  return parseScalar(
    tree,
    path,
    text => {
      const result = parseDuration(text, { unitless: 'seconds' })
      if (!result.ok) return result
      if (result.value <= 0n) return { ok: false, reason: 'it must be greater than zero' }
      return { ok: true, value: Number(result.value / 1_000_000n) }
    },
    reading,
    NUMERIC,
  )
}

/**
 * Reads variables, labels and similar pairs: a mapping, or a list of `NAME=value`. A name without a value gets the
 * value of the variable with the same name; if that variable is not set, the name is omitted. Warns about values that
 * YAML rewrites.
 */
export function readPairs(
  tree: Tree | undefined,
  { lookup, reporter }: Pick<Reading, 'lookup' | 'reporter'>,
): readonly Pair[] {
  const found = new Map<string, Pair>()
  const add = (name: string, value: string | undefined, tree: Tree, key = tree.span) => {
    const { span } = tree
    if (value === undefined) reportToken(name, span, reporter)
    const { value: given, isSecret } =
      value === undefined ? (lookup(name) ?? {}) : { value, isSecret: isMadeOfSecret(tree) }
    if (given !== undefined) found.set(name, { name, value: given, span, key, ...(isSecret && { isSecret: true }) })
  }
  for (const [name, { key, value }] of entries(tree)) {
    if (value.kind !== 'scalar') continue
    if (value.type === 'null') add(name, undefined, { ...value, span: key })
    else {
      reportAlteredScalar(value, reporter)
      add(name, scalarText(value), value, key)
    }
  }
  for (const item of items(tree)) {
    if (!isText(item)) continue
    const text = String(item.value)
    const at = text.indexOf('=')
    if (at < 0) add(text, undefined, item)
    else add(text.slice(0, at), text.slice(at + 1), item)
  }
  return sortByName([...found.values()])
}
