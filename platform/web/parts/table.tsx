import type { ComponentChildren } from 'preact'

/** A table in a box, which is scrolled where it is too wide. Its first column says what a row is of. */
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
