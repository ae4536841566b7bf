import type { KubernetesObject, Manifest } from '../../constructs/manifest.ts'
import { withAnnotations } from './annotations.ts'
import { type WaveWorkload, withSyncWaves } from './sync-waves.ts'

/** An environment's options for the manifests in its repository. */
export interface MarkOptions {
  /**
   * Workloads of the plan; their dependencies determine the sync waves of Argo CD. If absent, no sync waves are added.
   */
  readonly syncWaves?: readonly WaveWorkload[]
  /** Namespace object to add before all other objects. If absent, none is added. */
  readonly createNamespace?: NamespaceOptions
}

export interface NamespaceOptions {
  readonly name: string
  /** Pod Security level that the Pods need. */
  readonly level: 'restricted' | 'baseline' | 'privileged'
  /** Key in the manifest that requests the object: `devctl.yml#environments.staging.createNamespace`. */
  readonly source: string
}

/**
 * Annotations that keep Argo CD and Flux from deleting the object when its file or the application is deleted, and Argo
 * CD from reporting the missing file.
 */
const KEEP = {
  'argocd.argoproj.io/compare-options': 'IgnoreExtraneous',
  'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
  'kustomize.toolkit.fluxcd.io/prune': 'disabled',
} as const

/**
 * Annotation that disables the variable substitution of Flux. Without the annotation, `postBuild` would replace `${…}`
 * in scripts and commands with variables of Flux, and `$$` with `$`.
 */
const LITERAL = { 'kustomize.toolkit.fluxcd.io/substitute': 'disabled' } as const

/**
 * Returns the manifests for controllers: persistent volume claims outlive their files, and the requested options are
 * added. Annotations from the user's files are kept.
 */
export function forControllers(manifests: readonly Manifest[], options: MarkOptions = {}): readonly Manifest[] {
  const { syncWaves, createNamespace } = options
  for (const { object } of manifests) refuseTimeToLive(object)
  const kept = manifests.map(manifest =>
    manifest.object.kind === 'PersistentVolumeClaim' ? withDefaults(manifest, KEEP) : manifest,
  )
  const literal = kept.map(manifest => (hasDollar(manifest.object) ? withDefaults(manifest, LITERAL) : manifest))
  const waved = syncWaves ? withSyncWaves(literal, syncWaves) : literal
  return createNamespace ? [namespaceManifest(createNamespace), ...waved] : waved
}

/** Throws for a Job that deletes itself, because the next reconciliation would create and run the Job again. */
function refuseTimeToLive({ kind, metadata, spec }: KubernetesObject): void {
  if (kind === 'Job' && typeof spec === 'object' && spec !== null && 'ttlSecondsAfterFinished' in spec)
    throw new Error(`job ${metadata.name} has a time to live`)
}

/** Returns the manifest with annotations added, except those that the user's files set. */
function withDefaults(manifest: Manifest, annotations: Readonly<Record<string, string>>): Manifest {
  return withAnnotations(manifest, { ...annotations, ...manifest.object.metadata.annotations })
}

const hasDollar = (object: KubernetesObject): boolean => JSON.stringify(object).includes('$')

function namespaceManifest({ name, level, source }: NamespaceOptions): Manifest {
  const object = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels: { 'app.kubernetes.io/managed-by': 'devctl', 'pod-security.kubernetes.io/enforce': level },
      // Deleting the namespace would delete everything in it, including claims.
      annotations: { ...KEEP },
    },
  }
  return { source, folder: '_shared', object }
}
