import { isTopLevelExtension } from '../../compose/keys/sections.ts'
import type { SecretPlace, SecretPlaces } from '../../text/secret-places.ts'
import type { Span } from '../../text/source.ts'
import { get, type ScalarTree, type Tree } from '../../text/tree.ts'
import type { PlanContext } from '../context.ts'
import type { Plan } from '../plan.ts'
import { secretSource } from './secret-sources.ts'

/** A value in the model that contains text from a secret origin, such as a variable. */
export interface SecretUse {
  /** Path of the value in a manifest, such as `services.web.command` or `configs.site`. */
  readonly path: string
  /** Origin of the secret, such as `` `DB_PASSWORD` ``. */
  readonly origin: string
  readonly span: Span
  /** The part of the secret that the value contains. */
  readonly text: string
  readonly variable?: { readonly service: string; readonly name: string }
}

/** Keys of a service that never end up in a manifest. */
const NOT_WRITTEN = new Set(['build', 'develop', 'env_file', 'extends', 'logging', 'profiles'])

/**
 * Yields the values of the model that contain a text from a secret origin and may appear in a manifest, one for each
 * path. Omits values that come from a Secret.
 */
export function* secretUses(context: Pick<PlanContext, 'project' | 'options' | 'valuesApart'>): Generator<SecretUse> {
  const { project, valuesApart } = context
  if (project.secretPlaces.isEmpty) return
  const seen = new Set<string>()
  for (const [keys, scalar] of scalarsOf(project.tree, [])) {
    const [section, name, key] = keys
    if (!isWritten(keys) || isImpliedName(project.tree, keys, scalar)) continue
    const place = project.secretPlaces.at(scalar.span)
    const text = String(scalar.value)
    const isName = section === 'configs' && key === 'environment'
    const isWhole = place && (isName || text.includes(place.value))
    const held = place && (isWhole ? place.value : place.value.includes(text) ? text : '')
    const path = pathOf(keys)
    if (!held || seen.has(path) || valuesApart.has(path) || secretSource(context, path)) continue
    seen.add(path)
    const isVariable = section === 'services' && key === 'environment' && keys.length === 4
    yield {
      path,
      origin: place.origin,
      span: scalar.span,
      text: held,
      ...(isVariable && { variable: { service: name!, name: keys[3]! } }),
    }
  }
  for (const use of namesWithSecrets(project.tree, project.secretPlaces, [])) {
    if (seen.has(use.path)) continue
    seen.add(use.path)
    yield use
  }
}

/**
 * True if the text at a path may appear in a manifest. The text of a top-level extension key appears only if an alias
 * copies it to another key.
 */
const isWritten = ([section, , key]: readonly string[]): boolean =>
  section === 'services'
    ? !NOT_WRITTEN.has(key!)
    : !isTopLevelExtension(section!) && (section !== 'secrets' || key === 'labels' || key === 'name')

/**
 * Returns true if the name of a network, volume, config or secret is implied rather than written. An implied name has
 * the span of the full definition.
 */
function isImpliedName(tree: Tree, [section = '', key = '', field]: readonly string[], { span }: ScalarTree): boolean {
  return section !== 'services' && field === 'name' && get(tree, section, key)?.span === span
}

/**
 * Yields uses of secrets in the keys of mappings. If a mapping was written as a list, its keys can contain substituted
 * variables, too. The path of a use is the path of the mapping.
 */
function* namesWithSecrets(tree: Tree, places: SecretPlaces, path: readonly string[]): Generator<SecretUse> {
  if (tree.kind === 'seq')
    for (const [index, item] of tree.items.entries()) yield* namesWithSecrets(item, places, [...path, String(index)])
  if (tree.kind !== 'map') return
  for (const [name, { key: span, value }] of tree.entries) {
    const keys = [...path, name]
    if (!isWritten(keys)) continue
    const place = places.at(span)
    if (place && isInName(place, span) && name.includes(place.value))
      yield { path: path.join('.'), origin: place.origin, span, text: place.value }
    yield* namesWithSecrets(value, places, keys)
  }
}

/** True if the secret comes from a variable in the name, before the `=`. */
const isInName = ({ span }: SecretPlace, { file, start }: Span): boolean =>
  file.text[span.start] === '$' && !file.text.slice(start, span.start).includes('=')

/**
 * Returns the uses that appear in a plan's manifests. A use counts as shown if its text occurs anywhere in the plan, so
 * very short values always count.
 */
export function shownUses(context: PlanContext, plan: Plan): readonly SecretUse[] {
  const uses = [...secretUses(context)]
  if (uses.length === 0) return uses
  const texts = [...textsIn({ ...plan, secrets: [], externalSecrets: [] })].join('\n').toLowerCase()
  return uses.filter(({ text }) => texts.includes(text.toLowerCase()))
}

function* scalarsOf(tree: Tree, path: readonly string[]): Generator<readonly [readonly string[], ScalarTree]> {
  switch (tree.kind) {
    case 'map':
      for (const [key, { value }] of tree.entries) yield* scalarsOf(value, [...path, key])
      break
    case 'seq':
      for (const [index, item] of tree.items.entries()) yield* scalarsOf(item, [...path, String(index)])
      break
    case 'scalar':
      if (tree.type !== 'null') yield [path, tree]
  }
}

/**
 * Returns the path of a value. The arguments of a command count as one value, and so do the parts of a config and of a
 * healthcheck, as in guarded-texts.ts.
 */
function pathOf(keys: readonly string[]): string {
  const [section, , key] = keys
  if (section === 'services' && key === 'healthcheck') return keys.slice(0, 3).join('.')
  if (section === 'configs' && key !== 'labels') return keys.slice(0, 2).join('.')
  return (/^\d+$/.test(keys.at(-1)!) ? keys.slice(0, -1) : keys).join('.')
}

/** Plan keys that refer to the source files and do not appear in manifests. */
const ABOUT_FILES = new Set(['span', 'key', 'source', 'path'])

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (value instanceof Uint8Array) yield new TextDecoder().decode(value)
  else if (value instanceof Map)
    for (const [key, inner] of value) {
      yield* textsIn(key)
      yield* textsIn(inner)
    }
  else if (Array.isArray(value) || value instanceof Set) for (const inner of value) yield* textsIn(inner)
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) {
      yield key
      if (!ABOUT_FILES.has(key) || typeof inner === 'string') yield* textsIn(inner)
    }
  else if (value !== undefined && value !== null) yield String(value)
}
