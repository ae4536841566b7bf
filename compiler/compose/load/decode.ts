import type { Reporter } from '../../diagnostics/reporter.ts'
import type { Print, PrintContext } from '../../schema/load-rules.ts'
import { shapeOf } from '../../schema/row.ts'
import type { Row, Shape } from '../../schema/shape.ts'
import { type Entry, isMap, type MapTree } from '../../text/tree.ts'
import { composeShape, SECTIONS } from '../keys/compose.ts'
import { printerOf } from '../keys/printer.ts'

const PRINTERS = new Map<string, Print>(SECTIONS.map(section => [section, printerOf(entryOf(section))]))

/**
 * Gives a canonical model the values that `docker compose config --format json` prints (durations as Go's, sizes in bytes, words of commands), typed as
 * there and without what is empty there; the dialect's own keys stay. Names what could not be read, as `volumes.data`, and the keys of services.
 */
export function decodeModel(
  model: MapTree,
  reporter: Reporter,
): {
  readonly model: MapTree
  readonly broken: readonly string[]
  readonly lost: ReadonlyMap<string, readonly string[]>
} {
  const broken: string[] = []
  const lost = new Map<string, readonly string[]>()
  const entries = new Map<string, Entry>()
  for (const [section, entry] of model.entries) {
    const print = PRINTERS.get(section)
    if (!print || !isMap(entry.value)) {
      entries.set(section, entry)
      continue
    }
    const decoded = new Map<string, Entry>()
    for (const [name, { key, value }] of entry.value.entries) {
      const context: PrintContext = { reporter, failed: false }
      const result = print(isMap(value) ? value : { kind: 'map', span: value.span, entries: new Map() }, context)
      if (!result || (context.failed && section !== 'services')) {
        broken.push(`${section}.${name}`)
        continue
      }
      if (context.failed && isMap(value) && isMap(result))
        lost.set(
          name,
          [...value.entries.keys()].filter(one => !result.entries.has(one)),
        )
      decoded.set(name, { key, value: result })
    }
    entries.set(section, { key: entry.key, value: { ...entry.value, entries: decoded } })
  }
  return { model: { ...model, entries }, broken, lost }
}

/** What stands below a name of a section. */
function entryOf(section: string): Row | Shape {
  return shapeOf(composeShape.map!.keys[section]!).map!.others!.row // every section is a mapping of names
}
