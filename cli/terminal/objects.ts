import { jsonText } from '../../compiler/values/printable.ts'
import type { Output } from './io.ts'

/** Writes an object as one line of JSON. */
export const writeObject = (output: Output, value: object): void => output.write(`${jsonText(value)}\n`)

/** Returns an error or warning without a position in the files, in the form of a diagnostic without a code. */
export function problemObject(
  severity: 'error' | 'warning',
  {
    message,
    notes = [],
    hint,
  }: { readonly message: string; readonly notes?: readonly string[]; readonly hint?: string | undefined },
): object {
  return { type: 'diagnostic', severity, message, related: [], notes, ...(hint !== undefined && { hint }) }
}
