import { isRow, shapeOf } from '../../schema/row.ts'
import { composeShape } from './compose.ts'

const KEYS = Object.entries(composeShape.map!.keys)

/** True for a top-level key of the table. */
export const isTopLevelKey = (key: string): boolean => Object.hasOwn(composeShape.map!.keys, key)

/** True for a top-level key that the user may choose freely: `x-*`, but for those in the table. */
export const isTopLevelExtension = (key: string): boolean => key.startsWith('x-') && !isTopLevelKey(key)

/** The top-level keys with named entries, whose names the user chooses: `services`, `volumes`, … */
export const SECTIONS: ReadonlySet<string> = new Set(
  KEYS.filter(([, field]) => {
    const { map, list } = shapeOf(field)
    return map?.others && !list && Object.keys(map.keys).length === 0
  }).map(([key]) => key),
)

/**
 * The other top-level keys that describe the application: `endpoints`. Those that describe one file
 * (`name`, `version`, `include`) are not among them.
 */
export const SETTINGS: ReadonlySet<string> = new Set(
  KEYS.filter(
    ([key, field]) => !SECTIONS.has(key) && key !== 'name' && isRow(field) && !['cli', 'none'].includes(field.fate),
  ).map(([key]) => key),
)
