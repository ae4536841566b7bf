import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import type { Pair } from '../project.ts'

const tooLarge = diagnostic({
  code: 'labels/too-large',
  severity: 'error',
  explain:
    'Kubernetes allows 256 KiB of annotations on an object, keys and values together. Labels of a Compose file become annotations; `annotations` of `x-kubernetes` are added to them. Put large texts into a config, which is mounted as a file.',
  text: (p: { what: 'labels' | 'annotations'; label: string; bytes: number }) => ({
    message: `the ${p.what} have ${p.bytes} bytes in total, more than the ${mostBytes} that Kubernetes allows; the largest is \`${p.label}\``,
    hint: 'put the text into a config, and mount it',
  }),
})

/**
 * The API server's limit for the annotations of an object in bytes, minus room for annotations that controllers add.
 */
const mostBytes = 256 * 1024 - 2048

/**
 * Reports an error if the annotations of an object together exceed the size limit, at the position of the largest
 * annotation in `added`. `others` are the other annotations of the object.
 */
export function checkAnnotationSize(
  reporter: Reporter,
  what: 'labels' | 'annotations',
  added: readonly Pair[],
  others: Readonly<Record<string, string>> = {},
): void {
  const sizes = added.map(({ name, value }) => sizeOf(name, value))
  const kept = Object.entries(others).filter(([name]) => added.every(one => one.name !== name))
  const bytes = [...sizes, ...kept.map(([name, value]) => sizeOf(name, value))].reduce((sum, size) => sum + size, 0)
  const largest = bytes > mostBytes ? added[sizes.indexOf(Math.max(...sizes))] : undefined
  if (largest) reporter.report(tooLarge, largest.key ?? largest.span, { what, label: largest.name, bytes })
}

const sizeOf = (name: string, value: string) => name.length + Buffer.byteLength(value)
