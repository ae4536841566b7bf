import { variableNameProblem } from '../../platform/rules/variable-names.ts'
import type { OperationEvent } from '../events.ts'

/** Of the families of names that decide what programs do, these say only which version of something is meant. */
const HARMLESS = /^(NODE_ENV|[A-Z_]+_(VERSION|SHA|COMMIT|BRANCH|TAG))$/

/**
 * True for a variable that may come from the cluster into programs of this machine: others can write what is there, and a
 * name is code here (`BASH_ENV`, `PATH`).
 */
export const isUsableHere = (name: string, value: string): boolean =>
  (variableNameProblem(name) === undefined || HARMLESS.test(name)) && !value.includes('\0')

/**
 * What is used of the variables that a deploy has kept in the cluster. Everybody who may deploy in the namespace can write
 * them: what is not usable here is left out, with a warning.
 */
export function usableVariables(
  kept: Readonly<Record<string, string>>,
  on: (event: OperationEvent) => void,
): Readonly<Record<string, string>> {
  const isUsable = ([name, value]: readonly [string, string]) => isUsableHere(name, value)
  const all = Object.entries(kept)
  for (const [name] of all.filter(one => !isUsable(one)))
    on({
      type: 'warning',
      text: `the variable \`${name.slice(0, 100)}\`, which is kept in the cluster, is not used: others can write it, and programs of this machine would do something else with it`,
      hint: 'if the command needs it, set it in the shell, or with `--var`',
    })
  return Object.fromEntries(all.filter(isUsable))
}
