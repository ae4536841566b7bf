import type { Reporter } from '../../../diagnostics/reporter.ts'
import { check, checkEntry, checkUnknown } from '../../../schema/check.ts'
import {
  badName,
  duplicateItem,
  ignoredKey,
  missingKey,
  notAllowed,
  nullValue,
  oddValue,
  outOfRange,
  type SchemaDiagnostics,
  unknownKey,
  wrongType,
} from '../../../schema/diagnostics.ts'
import { Findings, type Unchecked } from '../../../schema/findings.ts'
import type { ModelPath } from '../../../schema/model-path.ts'
import { shapeOf } from '../../../schema/row.ts'
import type { Shape } from '../../../schema/shape.ts'
import { get, type MapTree, type Tree } from '../../../text/tree.ts'
import { composeShape } from '../../keys/compose.ts'
import { hintForUnknown } from './unknown-key-hints.ts'

/** The schema diagnostics for Compose files. */
const composeDiagnostics: SchemaDiagnostics = {
  badName,
  duplicateItem,
  hintForUnknown,
  ignoredKey,
  missingKey,
  notAllowed,
  nullValue,
  oddValue,
  outOfRange,
  unknownKey,
  wrongType,
}

/** The parts of a model that are in error and must not be read. */
export interface InvalidParts {
  /** Invalid keys by service or job. `*` stands for any key, because an unknown key may be a misspelling of any key. */
  readonly keys: ReadonlyMap<string, ReadonlySet<string>>
  /** Invalid resources (`volumes.data`), services that are not mappings, and jobs without valid `triggers`. */
  readonly entries: ReadonlySet<string>
  /** Top-level keys whose whole value is invalid. */
  readonly topLevel: ReadonlySet<string>
  /** Paths of the innermost values in error. */
  readonly paths: readonly ModelPath[]
}

/**
 * Validates the merged, interpolated model against the table of keys: kinds of nodes, types, allowed values, unknown
 * and missing keys, names. The model may mix short and long forms. The readers check the content of text (ports, sizes,
 * durations). Accepts the same files as the JSON Schema of the Compose Specification, with the additions and
 * differences that docs/compose/differences.md lists. An error in an anchor that several services use is reported once.
 * Missing keys are not reported in a partial model.
 */
export function validate(
  tree: MapTree,
  reporter: Reporter,
  unchecked: Pick<Unchecked, 'isPartial'> = {},
): InvalidParts {
  const keys = new Map<string, ReadonlySet<string>>()
  const entries = new Set<string>()
  const topLevel = new Set<string>()
  const findings = new Findings(composeDiagnostics, unchecked)
  const map = composeShape.map!
  for (const entry of tree.entries) {
    const [key, { key: span, value }] = entry
    const field = Object.hasOwn(map.keys, key) ? map.keys[key] : undefined
    const shape = field && shapeOf(field)
    if (!shape) {
      if (checkUnknown(entry, map, [], findings)) continue
      topLevel.add(key)
    } else if (value.kind === 'map' && shape.map?.others && !shape.map.choose) {
      for (const member of value.entries) {
        const [name] = member
        const invalidKeys = new Set<string>()
        if (checkEntry(member, shape.map, [key], findings, invalidKeys)) continue
        if (invalidKeys.size > 0 && isPartlyValid(key, member[1].value, invalidKeys)) keys.set(name, invalidKeys)
        else entries.add(`${key}.${name}`)
      }
    } else if (!check(value, shape, { path: [key], keySpan: span }, findings)) topLevel.add(key)
  }
  findings.report(reporter)
  return { keys, entries, topLevel, paths: findings.paths }
}

/** True if an entry is usable without its invalid keys. A job without `triggers` would become a service. */
const isPartlyValid = (section: string, entry: Tree, invalidKeys: ReadonlySet<string>): boolean =>
  section === 'services' || (section === 'jobs' && get(entry, 'triggers') !== undefined && !invalidKeys.has('triggers'))

/**
 * Validates one value of the model, such as `['include']`, before documents are merged. Returns false if the value is
 * invalid.
 */
export function validateAt(path: ModelPath, tree: Tree, shape: Shape, reporter: Reporter): boolean {
  const findings = new Findings(composeDiagnostics)
  const isValid = check(tree, shape, { path, keySpan: tree.span }, findings)
  findings.report(reporter)
  return isValid
}
