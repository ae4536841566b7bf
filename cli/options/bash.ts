import type { Option } from './option.ts'

/** `--no-bash`: the value is false if the option is given, and otherwise true, which is commander's default. */
export const bash: Option<boolean> = {
  flags: '--no-bash',
  description: 'run the commands of the manifest with sh instead of bash',
}
