import type { MapTree } from '../../../text/tree.ts'
import { KUBERNETES_MEMBERS, type KubernetesMember } from '../../../values/kubernetes/members.ts'
import type { KubernetesPieces } from '../../project.ts'
import { keySpan, map } from '../tree-values.ts'

/** Reads `x-kubernetes` of a service. The plan checks its fields, which depend on the kinds of the objects. */
export function readKubernetes(service: MapTree): KubernetesPieces | undefined {
  const tree = map(service, 'x-kubernetes')
  if (!tree) return undefined
  const pieces = new Map<KubernetesMember, { readonly span: MapTree['span']; readonly tree: MapTree }>()
  for (const member of KUBERNETES_MEMBERS) {
    const piece = map(tree, member)
    if (piece) pieces.set(member, { span: keySpan(tree, member) ?? piece.span, tree: piece })
  }
  return pieces
}
