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

/** True for a label that devctl sets. */
export const isOwnLabel = (label: string): boolean =>
  /^((dev\.platform|network\.devctl|alias\.devctl)\/|app\.kubernetes\.io\/(name|instance|part-of|managed-by)$)/.test(
    label,
  )
