import { isRow, shapeOf } from '../../schema/row.ts'
import { composeShape } from './compose.ts'

const KEYS = Object.entries(composeShape.map!.keys)

/** True for a top-level key of the table. */
export const isTopLevelKey = (key: string): boolean => Object.hasOwn(composeShape.map!.keys, key)

/** True for a top-level `x-*` key that the table does not define. */
export const isTopLevelExtension = (key: string): boolean => key.startsWith('x-') && !isTopLevelKey(key)

/** The top-level keys whose entries have names that the user chooses: `services`, `volumes`, … */
export const SECTIONS: ReadonlySet<string> = new Set(
  KEYS.filter(([, field]) => {
    const { map, list } = shapeOf(field)
    return map?.others && !list && Object.keys(map.keys).length === 0
  }).map(([key]) => key),
)

/**
 * Top-level keys outside `SECTIONS` that describe the application, such as `endpoints`. Keys that describe a single
 * file (`name`, `version`, `include`) are left out.
 */
export const SETTINGS: ReadonlySet<string> = new Set(
  KEYS.filter(
    ([key, field]) => !SECTIONS.has(key) && key !== 'name' && isRow(field) && !['cli', 'none'].includes(field.fate),
  ).map(([key]) => key),
)
