import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'

type Annotations = Readonly<Record<string, string>>

interface ClaimTemplate {
  readonly metadata: { readonly name: string; readonly annotations?: Annotations }
}

/**
 * Returns the object that a deploy applies to a StatefulSet. Its claim templates keep the annotations that only the
 * existing object has. Such annotations concern only future claims, but their removal would require that the
 * StatefulSet is created again. Returns other objects unchanged.
 */
export function withLiveAnnotations(wanted: KubeObject, live: KubeObject | undefined): KubeObject {
  if (!live || wanted.kind !== 'StatefulSet') return wanted
  const known = new Map(templatesOf(live).map(({ metadata }) => [metadata.name, metadata.annotations]))
  const kept = templatesOf(wanted).map(template => withAnnotations(template, known.get(template.metadata.name)))
  if (kept.length === 0) return wanted
  return { ...wanted, spec: { ...(wanted['spec'] as object), volumeClaimTemplates: kept } }
}

const templatesOf = ({ spec }: KubeObject): readonly ClaimTemplate[] =>
  (spec as { readonly volumeClaimTemplates?: readonly ClaimTemplate[] } | undefined)?.volumeClaimTemplates ?? []

function withAnnotations(template: ClaimTemplate, live: Annotations | undefined): ClaimTemplate {
  if (!live) return template
  return { ...template, metadata: { ...template.metadata, annotations: { ...live, ...template.metadata.annotations } } }
}
