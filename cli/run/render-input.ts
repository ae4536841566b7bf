import type { RenderInput } from '../../operations/render/input.ts'
import type { RenderValues } from '../commands/render.ts'

/** Returns the input of the operation for the arguments and options of `render`. */
export function renderInput(services: readonly string[], options: RenderValues): RenderInput {
  return { ...options, format: options.output, services }
}
