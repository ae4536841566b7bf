import type { Option } from './option.ts'

/** `--no-bash`: false when it is given. Without a value of its own commander gives `true`. */
export const bash: Option<boolean> = {
  flags: '--no-bash',
  description: 'run the commands of the manifest with sh instead of bash',
}
