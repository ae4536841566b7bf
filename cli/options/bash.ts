import type { Option } from './option.ts'

/** `--no-bash`: the value is false if the option is given. Commander sets true if it is not. */
export const bash: Option<boolean> = {
  flags: '--no-bash',
  description: 'run the commands of the manifest with sh instead of bash',
}
