import { expect } from 'vitest'
import { reportUnsupportedKeys } from '../../../compiler/compose/load/checks/unsupported-keys.ts'
import { type InvalidParts, validate } from '../../../compiler/compose/load/checks/validate.ts'
import type { Diagnostic } from '../../../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../../../compiler/diagnostics/reporter.ts'
import { parseYaml } from '../../../compiler/text/parse.ts'
import { SourceFile } from '../../../compiler/text/source.ts'
import { isMap, type MapTree } from '../../../compiler/text/tree.ts'

export interface Checked {
  readonly broken: InvalidParts
  readonly diagnostics: readonly Diagnostic[]
}

/** Parses the text of a Compose file to a mapping. */
export function parse(text: string): MapTree {
  const reporter = new Reporter()
  const tree = parseYaml(new SourceFile('compose.yaml', text), reporter)?.[0]?.tree
  expect(reporter.hasErrors).toBe(false)
  if (!isMap(tree)) throw new Error(`no mapping:\n${text}`)
  return tree
}

/** Validates the text of a Compose file, without merging, substitution and conversion. */
export function check(text: string): Checked {
  const reporter = new Reporter()
  const broken = validate(parse(text), reporter)
  return { broken, diagnostics: reporter.diagnostics() }
}

/** Validates a service `web`, given as the content of a flow mapping: `user: 5, tty: true`. */
export const checkService = (keys: string): Checked => check(`services: {web: {${keys}}}`)

/** Reports the unsupported keys of a file in canonical form. */
export function fates(text: string): readonly Diagnostic[] {
  const reporter = new Reporter()
  reportUnsupportedKeys(parse(text), reporter)
  return reporter.diagnostics()
}

/** `error[code] message`. */
export function brief({ severity, code, message }: Diagnostic): string {
  return `${severity}[${code}] ${message}`
}

/** The text that a diagnostic points at. */
export function pointsAt({ span }: Diagnostic): string {
  return span ? span.file.text.slice(span.start, span.end) : ''
}
