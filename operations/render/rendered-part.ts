import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { countsOf } from '../../compiler/plan/counts.ts'
import type { Plan } from '../../compiler/plan/plan.ts'
import { get, isMap, type MapTree } from '../../compiler/text/tree.ts'
import type { Manifest } from '../../constructs/manifest.ts'
import type { CompiledProject } from '../../project/compile-files.ts'
import { labelsOf, partOf } from '../../project/names/named-services.ts'

/** Part of an application that is rendered. */
export interface RenderedPart {
  readonly manifests: readonly Manifest[]
  readonly diagnostics: readonly Diagnostic[]
  /** The model with the services that are rendered. */
  readonly model: MapTree | undefined
  readonly serviceCount: number
  readonly jobCount: number
}

/**
 * Returns the part of a compiled application that the named services and their dependencies are; all of it if no
 * service is named. The manifests are a part of those of the whole application: compiled alone, a service would get
 * another kind or other labels if what waits for it, or shares a network or a volume with it, is left out.
 */
export async function renderedPart(
  names: readonly string[],
  plan: Plan,
  compiled: CompiledProject,
  manifests: readonly Manifest[],
): Promise<RenderedPart> {
  const { diagnostics, loaded, project } = compiled
  const model = loaded?.tree
  const part = await partOf(names, plan, compiled)
  if (!part || !project)
    return { manifests, diagnostics, model, serviceCount: plan.serviceCount, jobCount: plan.jobCount }
  const [labels, { manifestsOf }, { serviceFinder }] = await Promise.all([
    labelsOf(project),
    import('../../environment/plan/part.ts'),
    import('../../builds/failures/remarks.ts'),
  ])
  const services = [...project.services.values()].filter(({ name }) => part.services.has(labels.get(name)!))
  const chosen = new Set(services.map(({ name }) => name))
  const serviceAt = serviceFinder(get(model, 'services'))
  const isAbout = ({ severity, span }: Diagnostic) => {
    const service = severity === 'error' || span === undefined ? undefined : serviceAt(span)
    return service === undefined || chosen.has(service)
  }
  return {
    manifests: manifestsOf(manifests, part.services),
    diagnostics: diagnostics.filter(isAbout),
    model: model && withServices(model, chosen),
    ...countsOf(services),
  }
}

/** Returns the model with only some of its services. */
function withServices(model: MapTree, chosen: ReadonlySet<string>): MapTree {
  const section = model.entries.get('services')
  if (!section || !isMap(section.value)) return model
  const entries = new Map([...section.value.entries].filter(([name]) => chosen.has(name)))
  const value = { ...section.value, entries }
  return { ...model, entries: new Map([...model.entries, ['services', { ...section, value }]]) }
}
