import type { MapTree } from '../../text/tree.ts'
import type { Service } from '../project.ts'
import { entries, nonEmptyText } from './tree-values.ts'

/**
 * Reads `models` of a service. For each model, returns the names of the variables that hold its address and its name.
 */
export function readModelUses(service: MapTree): Service['models'] {
  const models: Service['models'][number][] = []
  for (const [name, { key, value }] of entries(service, 'models')) {
    const variable = name.toUpperCase().replace(/[^A-Z0-9]/g, '_')
    models.push({
      name,
      endpointVar: nonEmptyText(value, 'endpoint_var')?.value ?? `${variable}_URL`,
      modelVar: nonEmptyText(value, 'model_var')?.value ?? variable,
      span: key,
    })
  }
  return models
}
