import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'

/** True if a Flux Kustomization applies the object. */
export const isManagedByFlux = ({ metadata }: KubeObject): boolean =>
  metadata.labels?.['kustomize.toolkit.fluxcd.io/name'] !== undefined ||
  (metadata.managedFields ?? []).some(({ manager }) => manager === 'kustomize-controller')

/** True if Argo CD applies the object. */
export const isManagedByArgoCd = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.['argocd.argoproj.io/tracking-id'] !== undefined ||
  (metadata.managedFields ?? []).some(({ manager }) => manager.startsWith('argocd-'))
