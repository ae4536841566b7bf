import type { ComponentChildren } from 'preact'

/**
 * Renders a table, which can be scrolled horizontally if it is too wide. Its first column names the subject of each
 * row.
 */
export const Table = ({
  label,
  columns,
  children,
}: {
  readonly label: string
  readonly columns: readonly string[]
  readonly children: ComponentChildren
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled, by keyboard too
  <section class="list scrolled" tabIndex={0} aria-label={label}>
    <table class="table">
      <thead>
        <tr>
          {columns.map(one => (
            <th key={one} scope="col">
              {one}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </section>
)
