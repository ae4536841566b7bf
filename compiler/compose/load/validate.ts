import type { Reporter } from '../../diagnostics/reporter.ts'
import { check, checkEntry, checkUnknown } from '../../schema/check.ts'
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
} from '../../schema/diagnostics.ts'
import { Findings } from '../../schema/findings.ts'
import type { ModelPath } from '../../schema/model-path.ts'
import { shapeOf } from '../../schema/row.ts'
import type { Shape } from '../../schema/shape.ts'
import type { MapTree, Tree } from '../../text/tree.ts'
import { composeShape } from '../keys/compose.ts'
import { hintForUnknown } from './unknown.ts'

/** How mistakes in Compose files are told. */
const composeMistakes: SchemaDiagnostics = {
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

/** What has an error inside it and must not be read any further. */
export interface Broken {
  /** The keys of services; `*` where one is meant that nobody can tell. */
  readonly keys: ReadonlyMap<string, ReadonlySet<string>>
  /** Services that are none, volumes, networks, secrets, configs, models and jobs, as `volumes.data`. */
  readonly entries: ReadonlySet<string>
  /** Top-level keys that are unusable as a whole. */
  readonly topLevel: ReadonlySet<string>
}

/**
 * Checks the merged, interpolated model against the table of keys: kinds of nodes, types and words, unknown and missing keys, names. Short
 * and long forms may be mixed; text stands where the reference accepts text and converts it later, so that what is in it (ports, sizes,
 * durations) is the reader's to judge. It accepts what the reference's JSON Schema accepts, with the dialect's additions and the
 * deviations that docs/compose.md lists. Every mistake is one diagnostic, also where an anchor puts it into several services.
 */
export function validate(tree: MapTree, reporter: Reporter): Broken {
  const keys = new Map<string, ReadonlySet<string>>()
  const entries = new Set<string>()
  const topLevel = new Set<string>()
  const findings = new Findings(composeMistakes)
  const map = composeShape.map!
  for (const [key, { key: span, value }] of tree.entries) {
    const field = Object.hasOwn(map.keys, key) ? map.keys[key] : undefined
    const shape = field && shapeOf(field)
    if (!shape) {
      if (checkUnknown(key, span, value, map, [], findings)) continue
      topLevel.add(key)
    } else if (value.kind === 'map' && shape.map?.others && !shape.map.choose) {
      for (const [name, entry] of value.entries) {
        const unsound = new Set<string>()
        if (checkEntry(name, entry, shape.map, [key], findings, unsound)) continue
        if (key === 'services' && unsound.size > 0) keys.set(name, unsound)
        else entries.add(`${key}.${name}`)
      }
    } else if (!check(value, shape, [key], span, findings)) topLevel.add(key)
  }
  findings.report(reporter)
  return { keys, entries, topLevel }
}

/** Checks one value at its place in the model (`['include']`), before the whole is merged. False when it must not be read. */
export function validateAt(path: ModelPath, tree: Tree, shape: Shape, reporter: Reporter): boolean {
  const findings = new Findings(composeMistakes)
  const sound = check(tree, shape, path, tree.span, findings)
  findings.report(reporter)
  return sound
}
