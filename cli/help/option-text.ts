import type { Option } from '../options/option.ts'

/** Returns the flags of an option with its choices: `--drift <ask|overwrite>`. */
export function flagsText({ flags, choices }: Option<unknown>): string {
  return choices ? flags.replace(/([<[]).*([>\]])$/, `$1${choices.join('|')}$2`) : flags
}

/** Returns the description of an option for the help that fits on a screen. */
export const shortText = (option: Option<unknown>): string => option.short ?? descriptionText(option)

/** Returns the description of an option with its default. */
export function descriptionText({ description, default: fallback }: Option<unknown>): string {
  const isShown = fallback !== undefined && typeof fallback !== 'boolean' && !description.includes('(default')
  return isShown ? `${description} (default: ${fallback})` : description
}
