import { jobsAsServices, servicesAsJobs } from '../compiler/compose/load/jobs.ts'
import type { Loaded } from '../compiler/compose/load/loaded.ts'
import { Reporter } from '../compiler/diagnostics/reporter.ts'
import type { Compilation } from '../compiler/index.ts'
import { entry, type MapTree, withEntry } from '../compiler/text/tree.ts'

/** A loaded model with the sections of the files, and a function that plans a changed one. */
export interface ModelInFiles {
  readonly loaded: Loaded
  readonly withModel: NonNullable<Compilation['withModel']>
}

/**
 * Returns the model of a compilation with its jobs apart from its services, so that paths are those of the files.
 * Returns undefined if there is no model to plan.
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

/** Returns the tree of a loaded model with its jobs in their own section, at the position that a file has it. */
export function withSections({ tree, documents }: Pick<Loaded, 'tree' | 'documents'>): MapTree {
  const model = servicesAsJobs(tree)
  const jobs = entry(model, 'jobs')
  const written = documents.flatMap(one => entry(one, 'jobs') ?? [])[0]
  return jobs && written ? withEntry(model, 'jobs', { ...jobs.value, span: written.value.span }, written.key) : model
}
