import { diagnostic } from '../../../diagnostics/diagnostic.ts'

export const ownLabel = diagnostic({
  code: 'kubernetes/own-label',
  severity: 'error',
  explain:
    'devctl finds its objects and their Pods by these labels: `dev.platform/…`, `network.devctl/…`, `alias.devctl/…`, and `app.kubernetes.io/name`, `instance`, `part-of` and `managed-by`. It sets them on every object itself.',
  text: (p: { label: string }) => ({
    message: `devctl sets the label \`${p.label}\` itself`,
    hint: 'remove it, or use a label with a prefix of your own',
  }),
})

export const ownAnnotation = diagnostic({
  code: 'kubernetes/own-annotation',
  severity: 'error',
  explain:
    'Annotations with the prefix `dev.platform/` are how devctl remembers what it did to an object. It sets them itself. `dev.platform/policy: keep` is the only one that a file may set: `destroy` and prune leave the object.',
  text: (p: { annotation: string }) => ({
    message: `devctl sets the annotation \`${p.annotation}\` itself`,
    hint: 'remove it, or use an annotation with a prefix of your own',
  }),
})

/** True for a label that devctl sets. */
export const isOwnLabel = (label: string): boolean =>
  /^((dev\.platform|network\.devctl|alias\.devctl)\/|app\.kubernetes\.io\/(name|instance|part-of|managed-by)$)/.test(
    label,
  )

/** True for an annotation that only devctl sets. The case of the prefix does not matter. */
export const isOwnAnnotation = (annotation: string): boolean =>
  /^(dev\.platform|network\.devctl|alias\.devctl)\//i.test(annotation) && annotation !== 'dev.platform/policy'
