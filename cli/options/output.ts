import { aliased, choice, type Option } from './option.ts'

/** Formats of standard output, in the order in which help lists them. `kustomize` is for files in a folder. */
export const FORMATS = [
  'text',
  'wide',
  'json',
  'yaml',
  'name',
  'md',
  'sarif',
  'kustomize',
  'mermaid',
  'dot',
  'svg',
] as const
export type OutputFormat = (typeof FORMATS)[number]

/**
 * Returns the option `-o, --output` of a command that prints a list, a record or a report. The first format is the
 * default.
 */
export function output<const Format extends OutputFormat>(...formats: readonly [Format, ...Format[]]): Option<Format> {
  return choice(FLAGS, 'output format', formats, formats[0])
}

/**
 * Returns the option `-o, --output` of a command that prints a document, such as manifests. `--format` is an older name
 * of the option.
 */
export function documentOutput<const Format extends OutputFormat>(
  description: string,
  ...formats: readonly [Format, ...Format[]]
): Option<Format | undefined> {
  return aliased(choice(FLAGS, description, formats), '--format')
}

const FLAGS = '-o, --output <format>'
