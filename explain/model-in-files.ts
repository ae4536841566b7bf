import { jobsAsServices, servicesAsJobs } from '../compiler/compose/load/jobs.ts'
import type { Loaded } from '../compiler/compose/load/loaded.ts'
import { Reporter } from '../compiler/diagnostics/reporter.ts'
import type { Compilation } from '../compiler/index.ts'
import { entry, type MapTree, withEntry } from '../compiler/text/tree.ts'

/** Loaded model with the same sections as the files, and a function that plans a changed model. */
export interface ModelInFiles {
  readonly loaded: Loaded
  readonly withModel: NonNullable<Compilation['withModel']>
}

/**
 * Returns the model of a compilation with its jobs in a section of their own, so paths in the model are the same as in
 * the files. Undefined if there is no model to plan.
 */
export function modelInFiles({
  loaded,
  withModel,
}: Pick<Compilation, 'loaded' | 'withModel'>): ModelInFiles | undefined {
  if (!loaded || !withModel) return undefined
  return {
    loaded: { ...loaded, tree: withSections(loaded) },
    // The problems of jobs are those of the unchanged model.
    withModel: (tree, options) => withModel(jobsAsServices(tree, new Reporter()), options),
  }
}

/**
 * Returns the tree of a loaded model with its jobs in a section of their own, at the position of the first `jobs`
 * section in the files.
 */
export function withSections({ tree, documents }: Pick<Loaded, 'tree' | 'documents'>): MapTree {
  const model = servicesAsJobs(tree)
  const jobs = entry(model, 'jobs')
  const written = documents.flatMap(one => entry(one, 'jobs') ?? [])[0]
  return jobs && written ? withEntry(model, 'jobs', { ...jobs.value, span: written.value.span }, written.key) : model
}
