import { displayWidth, printable } from '../../compiler/values/printable.ts'
import type { FilePlace, Provenance } from '../../operations/config/provenance.ts'

/** Returns a line for each value: its path and value, followed by its position and other facts. */
export function printProvenance(values: readonly Provenance[]): string {
  const rows = values.map(one => ({ left: `${printable(one.path)}: ${shorten(one.value)}`, right: originText(one) }))
  // A few very long values must not widen the column for all others.
  const width = Math.min(60, Math.max(0, ...rows.map(({ left }) => displayWidth(left))))
  return rows
    .map(({ left, right }) => `${left}${' '.repeat(Math.max(0, width - displayWidth(left)))}  # ${right}\n`)
    .join('')
}

function shorten(value: Provenance['value']): string {
  const text = JSON.stringify(value)
  return printable(text.length > 60 ? `${text.slice(0, 59)}…` : text)
}

function originText({ place, replaced, variables }: Provenance): string {
  const parts = [placeText(place)]
  if (replaced.length > 0) parts.push(`over ${replaced.map(placeText).join(', ')}`)
  for (const { name, origin } of variables) parts.push(`${name} from ${origin}`)
  return printable(parts.join('; '))
}

const placeText = ({ file, line, column }: FilePlace) => `${file}:${line}:${column}`
