import { editYaml } from '../../adapters/files/yaml-edit.ts'
import type { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { parseYaml } from '../../compiler/text/parse.ts'
import type { SourceFile } from '../../compiler/text/source.ts'
import { isMap } from '../../compiler/text/tree.ts'
import { ComposeEdits, labelledServices, type ServiceLabel } from './compose-labels.ts'
import { convertKompose } from './kompose.ts'
import { badKomposeValue } from './kompose-values.ts'
import { convertOkteto } from './okteto-labels.ts'
import { convertTraefik } from './traefik.ts'

/**
 * Returns the text of a Compose file with added keys that are equivalent to its labels of kompose, Traefik and Okteto.
 * The labels, comments and formatting stay. Returns undefined if the file has no such labels, or if it cannot be read,
 * which is reported.
 */
export async function withEquivalents(file: SourceFile, reporter: Reporter): Promise<string | undefined> {
  const model = parseYaml(file, reporter)?.[0]?.tree
  if (!isMap(model)) return undefined
  const labelled = labelledServices(model).filter(({ labels }) => labels.some(({ name }) => OF_TOOLS.test(name)))
  const edits = new ComposeEdits(model, reporter)
  const services = labelled.map(service => ({ ...service, labels: readableLabels(service.labels, edits) }))
  const hasOkteto = convertOkteto(model, edits)
  if (services.length === 0 && !hasOkteto) return undefined
  for (const service of services) convertKompose(service, model, edits)
  convertTraefik(services, edits)
  let { text } = file
  for (const edit of edits.edits) {
    const result = await editYaml(text, edit)
    if (!result.ok)
      throw new UserError(`\`${file.path}\` cannot be edited: ${result.problem}`, {
        hint: 'change it by hand: `devctl validate` shows the equivalent of each label',
      })
    ;({ text } = result)
  }
  return text
}

/** Matches the names of the labels that are converted: those of kompose, Traefik and Okteto. */
const OF_TOOLS = /^(?:kompose\.|traefik\.|dev\.okteto\.com\/)/i

/**
 * Returns the labels without those of kompose, Traefik and Okteto whose values cannot be carried over. Reports each
 * label that is omitted.
 */
const readableLabels = (labels: readonly ServiceLabel[], edits: ComposeEdits): readonly ServiceLabel[] =>
  labels.filter(label => {
    const problem = OF_TOOLS.test(label.name) && (label.isText ? badKomposeValue(label) : NO_TEXT)
    if (problem) edits.lose(label, problem.why, problem.hint)
    return !problem
  })

const NO_TEXT = { why: 'its value is not text', hint: 'write one value, as text' }
