import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../../diagnostics/reporter.ts'
import { isMap, type Tree } from '../../../text/tree.ts'
import { isAnnotationKey, isLabelKey, isLabelValue } from '../../../values/annotation.ts'
import { entries } from '../tree-values.ts'
import { isOwnAnnotation, isOwnLabel, ownAnnotation, ownLabel } from './own-labels.ts'

const badMetadata = diagnostic({
  code: 'kubernetes/bad-metadata',
  severity: 'error',
  explain:
    'The key of a label or annotation is `[PREFIX/]NAME`: the name has at most 63 letters, digits, `-`, `_` and `.`, and begins and ends with a letter or digit; the prefix is a DNS name. The value of a label is such a name, too, or empty. The value of an annotation is any text.',
  text: (p: { text: string; what: 'key of a label' | 'value of a label' | 'key of an annotation' }) => ({
    message: `\`${p.text}\` is not a valid ${p.what}`,
    hint: `use letters, digits, \`-\`, \`_\` and \`.\`, at most 63 characters${p.what.startsWith('key') ? ', with an optional `host.name/` prefix' : '; annotations take any text'}`,
  }),
})

/**
 * Checks `labels` and `annotations` of a mapping, whose values must already be text. Reports keys and values that
 * Kubernetes refuses, and keys that devctl sets itself. Returns false if there are any.
 */
export function checkMetadata(tree: Tree | undefined, reporter: Reporter): boolean {
  let isValid = true
  const refuse = (report: () => void): void => {
    report()
    isValid = false
  }
  for (const [label, { key, value }] of entries(tree, 'labels')) {
    const text = value.kind === 'scalar' ? String(value.value) : ''
    if (isOwnLabel(label)) refuse(() => reporter.report(ownLabel, key, { label }))
    else if (!isLabelKey(label))
      refuse(() => reporter.report(badMetadata, key, { text: label, what: 'key of a label' }))
    else if (!isLabelValue(text))
      refuse(() => reporter.report(badMetadata, value.span, { text, what: 'value of a label' }))
  }
  for (const [annotation, { key }] of entries(tree, 'annotations')) {
    if (isOwnAnnotation(annotation)) refuse(() => reporter.report(ownAnnotation, key, { annotation }))
    else if (!isAnnotationKey(annotation))
      refuse(() => reporter.report(badMetadata, key, { text: annotation, what: 'key of an annotation' }))
  }
  return isValid
}

/**
 * Checks every nested `metadata` in a mapping of the Kubernetes API, such as the metadata of a Pod template. Returns
 * false if one of them is invalid.
 */
export function checkInnerMetadata(tree: Tree, reporter: Reporter): boolean {
  if (tree.kind === 'scalar') return true
  let isValid = true
  const inner = isMap(tree)
    ? [...tree.entries].map(([key, { value }]) => [key, value] as const)
    : tree.items.map(one => ['', one] as const)
  for (const [key, value] of inner) {
    const isFine = key === 'metadata' ? checkMetadata(value, reporter) : checkInnerMetadata(value, reporter)
    isValid &&= isFine
  }
  return isValid
}
