import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'

/** Returns true if a Flux Kustomization applies the object. */
export const isManagedByFlux = ({ metadata }: KubeObject): boolean =>
  metadata.labels?.['kustomize.toolkit.fluxcd.io/name'] !== undefined ||
  (metadata.managedFields ?? []).some(({ manager }) => manager === 'kustomize-controller')

/** Returns true if Argo CD applies the object. */
export const isManagedByArgoCd = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.['argocd.argoproj.io/tracking-id'] !== undefined ||
  (metadata.managedFields ?? []).some(({ manager }) => manager.startsWith('argocd-'))
