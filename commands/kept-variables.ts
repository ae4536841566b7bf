import { variableNameProblem } from '../platform/rules/variable-names.ts'
import type { CommonEvent } from '../project/events.ts'

/**
 * Names of variables that contain only a version and are therefore harmless, although other variables with the same
 * prefix change what programs do. `USE_BAZEL_VERSION` does not match, because it causes a program to be downloaded and
 * run.
 */
const HARMLESS = /^(NODE_ENV|[A-Z]+(_COMMIT|_IMAGE|_BUILD)?_(VERSION|SHA|COMMIT|BRANCH|TAG))$/

/**
 * Returns true if a variable may be passed from the cluster to programs on this machine. Other users can write the kept
 * variables, and some names make programs run code (`BASH_ENV`, `PATH`).
 */
export const isUsableHere = (name: string, value: string): boolean =>
  (variableNameProblem(name) === undefined || HARMLESS.test(name)) && !value.includes('\0')

/** Variables that a deploy has kept in the cluster and that commands may use. */
export interface UsableVariables {
  readonly taken: Readonly<Record<string, string>>
  /** Names of the variables that would be usable if the manifest named them. */
  readonly unnamed: readonly string[]
}

/**
 * Selects the kept variables of the cluster that commands receive. Every user who may deploy in the namespace can write
 * them, so only variables that the manifest names are used. Names that change what programs do are skipped with a
 * warning.
 */
export function usableVariables(
  kept: Readonly<Record<string, string>>,
  named: ReadonlySet<string>,
  on: (event: CommonEvent) => void,
): UsableVariables {
  const isUsable = ([name, value]: readonly [string, string]) => isUsableHere(name, value)
  const all = Object.entries(kept)
  for (const [name] of all.filter(one => !isUsable(one)))
    on({
      type: 'warning',
      text: `the variable \`${name.slice(0, 100)}\`, which is kept in the cluster, is not used: others can write it, and programs of this machine would do something else with it`,
      hint: 'if the command needs it, set it in the shell, or with `--var`',
    })
  const usable = all.filter(isUsable)
  return {
    taken: Object.fromEntries(usable.filter(([name]) => named.has(name))),
    unnamed: usable.flatMap(([name]) => (named.has(name) ? [] : name)),
  }
}
