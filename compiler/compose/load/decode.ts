import type { Reporter } from '../../diagnostics/reporter.ts'
import type { Print, PrintContext } from '../../schema/load-rules.ts'
import { shapeOf } from '../../schema/row.ts'
import type { Row, Shape } from '../../schema/shape.ts'
import { type Entry, isMap, type MapTree } from '../../text/tree.ts'
import { composeShape } from '../keys/compose.ts'
import { printerOf } from '../keys/printer.ts'
import { SECTIONS } from '../keys/sections.ts'
import { loadedService } from '../keys/service.ts'

const PRINTERS = new Map<string, Print>([...SECTIONS].map(section => [section, printerOf(entryOf(section))]))

/**
 * Converts the values of a canonical model to the values that `docker compose config --format json` prints: durations
 * in Go's format, sizes in bytes, commands as lists, no empty values. Keeps the keys of the dialect. Reports and leaves
 * out invalid values: `invalid` lists resources (`volumes.data`), `invalidKeys` lists keys by service.
 */
export function decodeModel(
  model: MapTree,
  reporter: Reporter,
): {
  readonly model: MapTree
  readonly invalid: readonly string[]
  readonly invalidKeys: ReadonlyMap<string, readonly string[]>
} {
  const invalid: string[] = []
  const invalidKeys = new Map<string, readonly string[]>()
  const entries = new Map<string, Entry>()
  for (const [section, entry] of model.entries) {
    const print = PRINTERS.get(section)
    if (!print || !isMap(entry.value)) {
      entries.set(section, entry)
      continue
    }
    const printed = new Map<string, Entry>()
    for (const [name, { key, value }] of entry.value.entries) {
      const context: PrintContext = { reporter, failed: false }
      const result = print(isMap(value) ? value : { kind: 'map', span: value.span, entries: new Map() }, context)
      if (!result || (context.failed && section !== 'services')) {
        invalid.push(`${section}.${name}`)
        continue
      }
      if (context.failed && isMap(value) && isMap(result))
        invalidKeys.set(
          name,
          [...value.entries.keys()].filter(one => !result.entries.has(one)),
        )
      printed.set(name, { key, value: result })
    }
    entries.set(section, { key: entry.key, value: { ...entry.value, entries: printed } })
  }
  return { model: { ...model, entries }, invalid, invalidKeys }
}

/** Returns the row or shape of the entries of a section. */
function entryOf(section: string): Row | Shape {
  // Every section is a mapping with names that the user chooses.
  return section === 'services' ? loadedService : shapeOf(composeShape.map!.keys[section]!).map!.others!.row
}
