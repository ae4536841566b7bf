import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { count } from '../../compiler/diagnostics/render/summary.ts'
import { compileFiles } from '../../project/compile-files.ts'
import type { LoadInput, PlanInput } from '../../project/input.ts'
import type { LocalContext } from '../../project/session.ts'

export interface ValidateInput extends LoadInput, PlanInput {
  /** Only these services and what they depend on; absent or empty: all. */
  readonly services?: readonly string[] | undefined
  /** True to refuse what `publish` refuses, too. */
  readonly forRepository?: boolean | undefined
}

/** The errors in the files, and the keys that are lost. */
export interface ValidateOutcome {
  readonly diagnostics: readonly Diagnostic[]
  /** There is no error among them. */
  readonly isValid: boolean
  readonly serviceCount: number
  /** The manifest, for people, where it alone was checked: there is no Compose file. */
  readonly onlyManifest?: string
}

/** Compiles an application, and returns the diagnostics of its files. */
export async function validate(
  { workspace }: Pick<LocalContext, 'workspace'>,
  input: ValidateInput,
): Promise<ValidateOutcome> {
  const { services = [], forRepository } = input
  const compiled = await compileFiles(workspace, services, input, input, { ...(forRepository && { forRepository }) })
  const { plan, diagnostics, hasNoCompose, manifest } = compiled
  return {
    diagnostics,
    isValid: plan !== undefined && count(diagnostics).error === 0,
    serviceCount: plan?.serviceCount ?? 0,
    ...(hasNoCompose && manifest && { onlyManifest: manifest.shown }),
  }
}
