import { printYaml } from '../../constructs/yaml.ts'

/** The file that `kubectl apply -k`, Flux and Argo CD look for in a folder. */
export const KUSTOMIZATION = 'kustomization.yaml'

/** A patch of one object: what it is applied to, and the file with its operations; or the patch itself. */
export type Patch =
  | {
      readonly path: string
      readonly target: {
        readonly group?: string
        readonly version: string
        readonly kind: string
        /** A regular expression, which kustomize anchors. */
        readonly name: string
      }
    }
  | { readonly patch: string }

/** A kustomization by its keys; lists that are empty are left out. */
export interface Kustomization {
  readonly namespace?: string
  readonly resources: readonly string[]
  readonly labels?: readonly {
    readonly includeSelectors?: boolean
    readonly includeTemplates?: boolean
    readonly pairs: Readonly<Record<string, string>>
  }[]
  readonly images?: readonly {
    readonly name: string
    readonly newName?: string
    readonly newTag?: string
    readonly digest?: string
  }[]
  readonly replicas?: readonly { readonly name: string; readonly count: number }[]
  readonly patches?: readonly Patch[]
}

/** The text of a kustomization. https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/ */
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
