import type { KubernetesObject, Manifest } from '../../constructs/manifest.ts'
import { withAnnotations } from './annotations.ts'
import { type WaveWorkload, withSyncWaves } from './sync-waves.ts'

/** The options of an environment for the manifests in its repository. */
export interface MarkOptions {
  /** The workloads of the plan: sync waves of Argo CD follow from what they depend on. */
  readonly syncWaves?: readonly WaveWorkload[]
  /** The object of the namespace, first of all. */
  readonly createNamespace?: NamespaceOptions
}

export interface NamespaceOptions {
  readonly name: string
  /** The Pod Security level that the Pods need. */
  readonly level: 'restricted' | 'baseline' | 'privileged'
  /** Key that asks for it: `devctl.yml#environments.staging.createNamespace`. */
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
 * Flux' `postBuild` would replace the `${…}` of scripts and commands by its own variables, and `$$`
 * by `$`.
 */
const LITERAL = { 'kustomize.toolkit.fluxcd.io/substitute': 'disabled' } as const

/**
 * The manifests as controllers should get them: claims outlive their files, and what was asked for
 * is added. What the user's files say stays.
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

/** A Job that removes itself would be made again by the next reconciliation, and run again. */
function refuseTimeToLive({ kind, metadata, spec }: KubernetesObject): void {
  if (kind === 'Job' && typeof spec === 'object' && spec !== null && 'ttlSecondsAfterFinished' in spec)
    throw new Error(`job ${metadata.name} has a time to live`)
}

/** Adds annotations, but where the user's files have them. */
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
      // All that is in a namespace would go with it, claims included.
      annotations: { ...KEEP },
    },
  }
  return { source, folder: '_shared', object }
}
