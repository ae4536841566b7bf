import { type BecomesObject, becomesOf, type Explained } from './explain-node.ts'
import type { PlanSetting } from './settings.ts'
import { type SourceLine, sourceLine } from './source-line.ts'

/** Objects that a setting of the environment became. */
export interface SettingExplanation {
  readonly key: string
  readonly value: string
  readonly line?: SourceLine
  readonly becomes: readonly BecomesObject[]
}

/** Explains a setting: its line, and the values that depend on it. */
export function explainSetting(setting: PlanSetting, { influences, loaded }: Explained): SettingExplanation {
  const { key, value, span } = setting
  return {
    key,
    value,
    ...(span && { line: sourceLine(span, loaded.secrets) }),
    becomes: becomesOf(influences.ofSetting(setting), influences),
  }
}
