import type { Diagnostic } from './diagnostics/diagnostic.ts'
import { Reporter } from './diagnostics/reporter.ts'
import type { CompilerHost } from './host.ts'
import type { LoadOptions, PlanOptions } from './options.ts'
import { planProject } from './plan/index.ts'
import { planEnvironment } from './plan/names.ts'
import type { Plan } from './plan/plan.ts'
import { withinLimits } from './project/limits.ts'
import { loadProject } from './project/load.ts'
import type { Loaded } from './project/loaded.ts'
import { emptyProject, withManifestEndpoints } from './project/manifest-inputs.ts'
import type { Project } from './project/project.ts'
import { readProject } from './project/read.ts'
import { reportFates } from './schema/effects.ts'

export type { Diagnostic } from './diagnostics/diagnostic.ts'
export type { CompilerHost } from './host.ts'
export type { LoadOptions, PlanOptions } from './options.ts'
export type { Plan } from './plan/plan.ts'

/** What a compilation found out. Each stage's result is absent when an error kept it from being made. */
export interface Compilation {
  /** The model that `devctl config` prints; absent when a file could not be read at all. With errors among the diagnostics it lacks what they are about. */
  readonly loaded?: Loaded
  /** What the environment is called, where a file with the name of the model would name another one. Of a model alone. */
  readonly environmentName?: string
  readonly project?: Project
  /** Absent when any diagnostic is an error. */
  readonly plan?: Plan
  readonly diagnostics: readonly Diagnostic[]
}

/** Compiles Compose files to a plan for Kubernetes. Reports every mistake it finds; throws only on a bug of ours. The only door in. */
export function compile(options: LoadOptions & PlanOptions, host: CompilerHost): Compilation {
  return withinLimits(
    options,
    host,
    reporter => compileWith(options, host, reporter),
    diagnostics => ({ diagnostics }),
  )
}

function compileWith(options: LoadOptions & PlanOptions, host: CompilerHost, reporter: Reporter): Compilation {
  const files = loadProject(options, host, reporter)
  const loaded = files && withManifestEndpoints(files, options.manifest?.endpoints, reporter)
  if (!loaded) return { diagnostics: reporter.diagnostics() }
  if (options.until === 'loaded')
    return { loaded, ...nameToPrint(loaded, options), diagnostics: reporter.diagnostics() }
  reportFates(loaded.tree, reporter)
  const project = readProject(loaded, host, reporter, options.secretRules)
  const plan = planProject(project, options, host, reporter)
  return { loaded, project, ...(!reporter.hasErrors && { plan }), diagnostics: reporter.diagnostics() }
}

function nameToPrint(loaded: Loaded, options: PlanOptions): Pick<Compilation, 'environmentName'> {
  const { name } = planEnvironment(loaded, options)
  return planEnvironment({ name: loaded.name, isNamed: true }, {}).name === name ? {} : { environmentName: name }
}

/** The plan of an application without Compose files, which its manifest deploys by commands alone: named, and empty. */
export function compileNothing(options: PlanOptions & { readonly directory: string }, host: CompilerHost): Compilation {
  const reporter = new Reporter()
  const project = emptyProject(options.directory)
  const plan = planProject(project, options, host, reporter)
  return { project, ...(!reporter.hasErrors && { plan }), diagnostics: reporter.diagnostics() }
}
