/** Annotations that protect objects from deletion: devctl's own and those of other tools. */
const KEEP: Readonly<Record<string, RegExp>> = {
  'dev.platform/policy': /^keep$/,
  'cli-utils.sigs.k8s.io/on-remove': /^keep$/,
  'client.lifecycle.config.k8s.io/deletion': /^detach$/,
  'argocd.argoproj.io/sync-options': /(?:^|,)\s*Prune=false\b/,
  'kustomize.toolkit.fluxcd.io/prune': /^disabled$/,
  'helm.sh/resource-policy': /^keep$/,
}

/** Returns true for an annotation that protects an object from deletion. */
export const isProtection = (name: string, value: string): boolean =>
  Object.hasOwn(KEEP, name) && KEEP[name]!.test(value)
