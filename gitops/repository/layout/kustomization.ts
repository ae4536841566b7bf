import { printYaml } from '../../../constructs/yaml.ts'

/** File that `kubectl apply -k`, Flux and Argo CD look for in a folder. */
export const KUSTOMIZATION = 'kustomization.yaml'

/**
 * A patch: the path of its file, or its text. `target` selects the objects that the patch applies to, if the patch
 * itself does not name them.
 */
export type Patch = ({ readonly path: string } | { readonly patch: string }) & { readonly target?: PatchTarget }

export interface PatchTarget {
  readonly group?: string
  readonly version?: string
  readonly kind?: string
  /** Regular expression for the whole name of an object; kustomize adds `^` and `$`. */
  readonly name?: string
}

/** Content of a kustomization file. Empty lists are omitted from the file. */
export interface Kustomization {
  readonly namespace?: string
  readonly resources: readonly string[]
  readonly labels?: readonly LabelEntry[]
  readonly images?: readonly ImageEntry[]
  readonly replicas?: readonly ReplicaEntry[]
  readonly patches?: readonly Patch[]
}

export interface LabelEntry {
  readonly pairs: Readonly<Record<string, string>>
  readonly includeSelectors?: boolean
  readonly includeTemplates?: boolean
}

export interface ImageEntry {
  readonly name: string
  readonly newName?: string
  readonly newTag?: string
  readonly digest?: string
}

export interface ReplicaEntry {
  readonly name: string
  readonly count: number
}

/** Returns the text of a kustomization: https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/ */
export function printKustomization({ resources, namespace, labels, images, replicas, patches }: Kustomization): string {
  const orNone = <T>(list: readonly T[] | undefined) => (list?.length ? list : undefined)
  return printYaml({
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace,
    resources,
    labels: orNone(labels),
    images: orNone(images),
    replicas: orNone(replicas),
    patches: orNone(patches),
  })
}
