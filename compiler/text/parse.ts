import type { Reporter } from '../diagnostics/reporter.ts'
import { DocumentReader, type YamlDocument } from './document-reader.ts'
import type { SourceFile } from './source.ts'
import { misplacedTab } from './tabs.ts'
import { syntax, tooDeep, tooLarge, version } from './yaml-diagnostics.ts'
import { readEvents } from './yaml-events.ts'
import { controlCharacter, TooDeep, YamlMistake } from './yaml-mistakes.ts'

/** Maximum number of characters in a file. A Compose file with 100,000 nodes is smaller. */
const MAX_LENGTH = 10_000_000
/** Matches characters that YAML does not allow anywhere, not even in comments. */
const CONTROL = /[\0-\x08\v\f\x0e-\x1f\ufffe\uffff]/
const DIRECTIVE = /^%YAML[ \t]+(\S+)/m
const LONE_RETURN = /\r(?!\n)/
const LONE_RETURNS = new RegExp(LONE_RETURN, 'g')

/** Reads the documents of a YAML file. Reports `yaml/*`. Returns undefined if the file cannot be used. */
export function parseYaml(file: SourceFile, reporter: Reporter): readonly YamlDocument[] | undefined {
  if (file.text.length > MAX_LENGTH) {
    reporter.report(tooLarge, { file, start: 0, end: 0 }, { what: 'the file has more than 10 million characters' })
    return undefined
  }
  // A carriage return without a line feed also ends a line.
  const text = LONE_RETURN.test(file.text) ? file.text.replaceAll(LONE_RETURNS, '\n') : file.text
  const mistake = (found: YamlMistake): undefined => {
    const start = Math.min(found.start, Math.max(0, text.length - 1))
    const span = { file, start, end: Math.max(start, Math.min(found.end, text.length)) }
    if (found instanceof TooDeep) reporter.report(tooDeep, span, {})
    else reporter.report(syntax, span, { message: found.message, hint: found.hint })
  }
  const control = text.search(CONTROL)
  if (control >= 0) return mistake(controlCharacter(text.charCodeAt(control), control))
  const directive = DIRECTIVE.exec(text)
  if (directive && directive[1] !== '1.1' && /^(?:[%#].*\n|\s)*$/.test(text.slice(0, directive.index))) {
    const start = directive.index
    reporter.report(version, { file, start, end: start + directive[0].length }, { version: directive[1]! })
    return undefined
  }
  const events = readEvents(text)
  if (events instanceof YamlMistake) return mistake(events)
  const tab = misplacedTab(text, events)
  if (tab) return mistake(tab)
  return new DocumentReader(file, text, events, reporter).readAll()
}
