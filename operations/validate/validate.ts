import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { count } from '../../compiler/diagnostics/render/summary.ts'
import { type LossReport, lossReport } from '../../explain/loss-report.ts'
import { compileFiles } from '../../project/compile-files.ts'
import type { LoadInput, PlanInput } from '../../project/input.ts'
import type { LocalContext } from '../../project/session.ts'

export interface ValidateInput extends LoadInput, PlanInput {
  /** Services to validate, together with their dependencies. If absent or empty, all services. */
  readonly services?: readonly string[] | undefined
  /** True to report the errors of `publish`, too. */
  readonly forRepository?: boolean | undefined
}

/** Errors in the files, and keys that have no effect in Kubernetes. */
export interface ValidateOutcome {
  readonly diagnostics: readonly Diagnostic[]
  /** True if the diagnostics contain no error. */
  readonly isValid: boolean
  readonly serviceCount: number
  /** Number of jobs, which are not among the services. */
  readonly jobCount: number
  /**
   * Numbers of keys of the Compose files that are mapped, approximated, and without effect. The keys are counted when
   * the property is read. Absent if a file is not readable.
   */
  readonly report?: LossReport
  /** Path for messages of the manifest or, without a manifest, of the first Compose file. Absent if none was read. */
  readonly mainFile?: string
  /** Path of the manifest for messages, if only the manifest was checked because there is no Compose file. */
  readonly onlyManifest?: string
}

/** Compiles an application, and returns the diagnostics of its files. */
export async function validate(
  { workspace }: Pick<LocalContext, 'workspace'>,
  input: ValidateInput,
): Promise<ValidateOutcome> {
  const { services = [], forRepository } = input
  const compiled = await compileFiles(workspace, services, input, input, { ...(forRepository && { forRepository }) })
  const { plan, loaded, diagnostics, hasNoCompose, manifest } = compiled
  const mainFile = manifest?.shown ?? loaded?.documents[0]?.span.file.path
  return {
    get report() {
      return loaded && lossReport(loaded.tree, diagnostics)
    },
    diagnostics,
    isValid: plan !== undefined && count(diagnostics).error === 0,
    serviceCount: plan?.serviceCount ?? 0,
    jobCount: plan?.jobCount ?? 0,
    ...(mainFile !== undefined && { mainFile }),
    ...(hasNoCompose && manifest && { onlyManifest: manifest.shown }),
  }
}
