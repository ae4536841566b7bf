import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { At, Span } from '../../text/source.ts'
import { spanInside } from '../../text/span-inside.ts'
import { entry, isMap, type MapTree } from '../../text/tree.ts'
import { parseImageReference } from '../../values/image-reference.ts'
import type { Build } from '../project.ts'
import type { ReadContext } from './context.ts'
import { entries, nonEmptyText, scalar, sortByName } from './tree-values.ts'

const badReference = diagnostic({
  code: 'image/bad-reference',
  severity: 'error',
  explain: `An image is \`[REGISTRY/]REPOSITORY[:TAG][@DIGEST]\`. The repository is lower case; a tag consists of letters, digits, \`_\`, \`.\` and \`-\`.
Kubernetes would accept the value and then fail to start the Pod (\`InvalidImageName\`). A reference that ends with \`:\` usually comes from a variable that has no value.

\`\`\`yaml
image: app:\${TAG}           # an empty TAG leaves "app:"
image: app:\${TAG:-latest}   # with a default
\`\`\``,
  text: (p: { image: string; reason: string; hint?: string | undefined }) => ({
    message: `\`${p.image}\` is not a valid image reference: ${p.reason}`,
    hint: p.hint,
  }),
})

/** Reads `image`. Reports an invalid image reference. */
export function readReference(service: MapTree, { reporter }: ReadContext): At<string> | undefined {
  const found = scalar(service, 'image')
  const value = String(found?.value ?? '')
  if (!found || value === '') return undefined
  const reference = parseImageReference(value)
  if (reference.ok) return { value, span: found.span }
  const { start = 0, end = value.length } = reference
  const [reason, hint] = /:(?:@|$)/.test(value)
    ? ['the tag after `:` is empty', 'write a tag, or give the variable a default: `${TAG:-latest}`']
    : [reference.reason, reference.hint]
  reporter.report(badReference, spanInside(found, start, end), { image: value, reason, hint })
  return undefined
}

/** Reads `build`, with the arguments sorted by name. */
export function readBuild(service: MapTree): Build | undefined {
  const found = entry(service, 'build')
  if (!isMap(found?.value)) return undefined
  const build = found.value
  return {
    span: found.key,
    context: nonEmptyText(build, 'context') ?? { value: '.', span: found.key },
    dockerfile: nonEmptyText(build, 'dockerfile'),
    dockerfileInline: nonEmptyText(build, 'dockerfile_inline'),
    target: nonEmptyText(build, 'target'),
    args: readArguments(build),
  }
}

function readArguments(build: MapTree): Build['args'] {
  const args: { name: string; value: string | null; span: Span }[] = []
  for (const [name, { key, value }] of entries(build, 'args')) {
    if (value.kind !== 'scalar') continue
    args.push(
      value.type === 'null' ? { name, value: null, span: key } : { name, value: String(value.value), span: value.span },
    )
  }
  return sortByName(args)
}
