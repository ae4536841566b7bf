import { jsonText } from '../../compiler/values/printable.ts'
import type { OutputFormat } from '../options/output.ts'

/** A list that a command prints, in the forms that `--output` can request. */
export interface PrintedList {
  readonly records: readonly unknown[]
  /** Names for `--output name`, one per line. */
  readonly names?: readonly string[]
  /** Returns the list as text, for `--output text` and `--output wide`. */
  readonly text: () => string
}

/** Returns a list in the format of `--output`, with a trailing newline. */
export async function listText(
  format: Extract<OutputFormat, 'text' | 'wide' | 'json' | 'yaml' | 'name'>,
  { records, names = [], text }: PrintedList,
): Promise<string> {
  switch (format) {
    case 'json':
      return `${jsonText(records, 2)}\n`
    case 'yaml': {
      const { printYaml } = await import('../../constructs/yaml.ts')
      return printYaml(records)
    }
    case 'name':
      return names.map(name => `${name}\n`).join('')
    default:
      return text()
  }
}
