import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { At } from '../../text/source.ts'
import type { MapTree } from '../../text/tree.ts'
import { isDnsSubdomain } from '../../values/dns-name.ts'
import type { ReadContext } from './context.ts'
import { nonEmptyText } from './tree-values.ts'

const badRuntime = diagnostic({
  code: 'runtime/bad-name',
  severity: 'error',
  explain: `\`runtime\` names a RuntimeClass of the cluster. The name consists of lower-case letters, digits, \`-\` and \`.\`, and begins and ends with a letter or digit. \`kubectl get runtimeclass\` lists the available ones.

\`\`\`yaml
runtime: kata-qemu
\`\`\``,
  text: (p: { runtime: string }) => ({
    message: `\`${p.runtime}\` is not a valid RuntimeClass name`,
    hint: 'use a name that `kubectl get runtimeclass` lists',
  }),
})

/** Reads `runtime`. Reports an invalid RuntimeClass name. */
export function readRuntime(service: MapTree, { reporter }: ReadContext): At<string> | undefined {
  const found = nonEmptyText(service, 'runtime')
  if (!found || isDnsSubdomain(found.value)) return found
  reporter.report(badRuntime, found.span, { runtime: found.value })
  return undefined
}
