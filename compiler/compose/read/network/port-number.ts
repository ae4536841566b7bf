import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { At } from '../../../text/source.ts'
import type { Tree } from '../../../text/tree.ts'
import type { ReadContext } from '../context.ts'
import { integerOf, scalar } from '../tree-values.ts'

const outOfRange = diagnostic({
  code: 'ports/out-of-range',
  severity: 'error',
  explain:
    'A port is a whole number from 1 to 65535. Port 0 is only allowed as a published port, where it means any free port.',
  text: (p: { port: string }) => ({ message: `port \`${p.port}\` is not between 1 and 65535` }),
})

/** True for a port between 1 and 65535. */
export const isPort = (port: number | undefined): port is number => port !== undefined && port >= 1 && port <= 65535

/** Reads the port at a path of keys. Reports a port that is not between 1 and 65535. */
export function readPortNumber(
  tree: Tree | undefined,
  path: readonly string[],
  { reporter }: Pick<ReadContext, 'reporter'>,
): At<number> | undefined {
  const found = scalar(tree, ...path)
  if (!found) return undefined
  const value = integerOf(found)
  if (isPort(value)) return { value, span: found.span }
  reporter.report(outOfRange, found.span, { port: String(found.value) })
  return undefined
}
