import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { Span } from '../text/source.ts'
import { isDnsLabel, toDnsLabel } from '../values/dns-name.ts'
import type { Distinct } from './duplicates.ts'
import type { Reading } from './values.ts'

const renamed = diagnostic({
  code: 'manifest/renamed',
  severity: 'warning',
  explain: `Names of images and development containers become part of names in Kubernetes, which consist of lower-case letters, digits and \`-\`. devctl replaces other characters. To silence the warning, use the changed name.`,
  text: (p: { what: string; from: string; to: string }) => ({
    message: `${p.what} \`${p.from}\` is renamed to \`${p.to}\`: the name is not valid in Kubernetes`,
    hint: `write \`${p.to}\``,
  }),
})

/**
 * Converts a name to Kubernetes' form. Reports a name that this changes, and a name that is already in use. Returns
 * undefined for an empty name and for a name in use. `what` describes the named thing in messages, such as `the image`.
 */
export function readName(
  written: string,
  span: Span,
  what: string,
  distinct: Distinct,
  { reporter }: Pick<Reading, 'reporter'>,
): string | undefined {
  if (written === '') return undefined
  const name = toDnsLabel(written)
  if (!isDnsLabel(written)) reporter.report(renamed, span, { what, from: written, to: name })
  return distinct.add(
    name,
    span,
    `${what} \`${name}\` is there`,
    `write another name here, for example \`${toDnsLabel(`${name}-2`)}\`, and where this one is meant; names must differ in more than case and \`_\``,
  )
    ? name
    : undefined
}
