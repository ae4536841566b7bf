import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { At } from '../../text/source.ts'
import { spanInside } from '../../text/span-inside.ts'
import { get, type MapTree, type ScalarTree } from '../../text/tree.ts'
import { parseImageReference } from '../../values/images/image-reference.ts'
import type { ReadContext } from './context.ts'
import { scalar } from './tree-values.ts'

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

const oktetoRegistry = diagnostic({
  code: 'image/okteto-registry',
  severity: 'warning',
  explain:
    '`okteto.dev` and `okteto.global` are short names for the registry of an Okteto platform. No other program can push to it or pull from it. The image of a service with `build` is named as if it had no `image`; other services need an image in a registry that the cluster can pull from.',
  text: (p: { image: string; hasBuild: boolean }) => ({
    message: `\`${p.image}\` is in the registry of an Okteto platform; ${p.hasBuild ? 'devctl names the image itself' : 'no other cluster can pull it'}`,
    hint: p.hasBuild ? 'remove `image`' : 'name an image in your registry, or add `build`',
  }),
})

/**
 * Reads `image`. Reports an invalid image reference, and an image in the registry of an Okteto platform. If the service
 * has `build`, the Okteto reference is ignored, so devctl names the image.
 */
export function readReference(service: MapTree, context: ReadContext): At<string> | undefined {
  const found = scalar(service, 'image')
  if (!found) return undefined
  const image = parseReference(found, context)
  if (!image || !/^okteto\.(?:dev|global)\//.test(image.value)) return image
  const hasBuild = get(service, 'build') !== undefined
  context.reporter.report(oktetoRegistry, image.span, { image: image.value, hasBuild })
  return hasBuild ? undefined : image
}

/** Returns the reference of an image; undefined if it is empty, or invalid (which is reported). */
export function parseReference(found: ScalarTree, { reporter }: Pick<ReadContext, 'reporter'>): At<string> | undefined {
  const value = String(found.value)
  if (value === '') return undefined
  const reference = parseImageReference(value)
  if (reference.ok) return { value, span: found.span }
  const { start = 0, end = value.length } = reference
  const [reason, hint] = /:(?:@|$)/.test(value)
    ? ['the tag after `:` is empty', 'write a tag, or give the variable a default: `${TAG:-latest}`']
    : [reference.reason, reference.hint]
  reporter.report(badReference, spanInside(found, start, end), { image: value, reason, hint })
  return undefined
}
