import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'

/** Annotations that protect objects from deletion: devctl's own and those of other tools. */
const KEEP: Readonly<Record<string, RegExp>> = {
  'dev.platform/policy': /^keep$/,
  'cli-utils.sigs.k8s.io/on-remove': /^keep$/,
  'client.lifecycle.config.k8s.io/deletion': /^detach$/,
  'argocd.argoproj.io/sync-options': /(?:^|,)\s*Prune=false\b/,
  'kustomize.toolkit.fluxcd.io/prune': /^disabled$/,
  'helm.sh/resource-policy': /^keep$/,
}

/** Returns true if an annotation protects the object from prune and destroy. */
export function keepsItself({ metadata }: KubeObject): boolean {
  const annotations = metadata.annotations ?? {}
  return Object.entries(KEEP).some(([name, pattern]) => pattern.test(annotations[name] ?? ''))
}
