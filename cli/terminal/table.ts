import { displayWidth, printable } from '../../compiler/values/printable.ts'

/**
 * Formats rows as columns that are two spaces apart and as wide as their widest cell, with a newline after each row.
 */
export function toTable(rows: readonly (readonly string[])[]): string {
  const cells = rows.map(row => row.map(printable))
  const widths: number[] = []
  for (const row of cells)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, displayWidth(cell))
  const pad = (cell: string, column: number) => cell + ' '.repeat(widths[column]! - displayWidth(cell))
  return cells.map(row => `${row.map(pad).join('  ').trimEnd()}\n`).join('')
}
