import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'

/** Annotations by which objects ask not to be deleted: ours and those of other tools. */
const KEEP: Readonly<Record<string, RegExp>> = {
  'dev.platform/policy': /^keep$/,
  'cli-utils.sigs.k8s.io/on-remove': /^keep$/,
  'client.lifecycle.config.k8s.io/deletion': /^detach$/,
  'argocd.argoproj.io/sync-options': /(?:^|,)\s*Prune=false\b/,
  'kustomize.toolkit.fluxcd.io/prune': /^disabled$/,
  'helm.sh/resource-policy': /^keep$/,
}

/** True if an object is annotated so that neither prune nor destroy takes it. */
export function keepsItself({ metadata }: KubeObject): boolean {
  const annotations = metadata.annotations ?? {}
  return Object.entries(KEEP).some(([name, pattern]) => pattern.test(annotations[name] ?? ''))
}
