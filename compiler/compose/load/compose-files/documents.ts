import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { YamlDocument } from '../../../text/document-reader.ts'
import { interpolate } from '../../../text/interpolate.ts'
import { parseYaml } from '../../../text/parse.ts'
import type { Span } from '../../../text/source.ts'
import { isMap, isNull, type MapTree, withoutKeys } from '../../../text/tree.ts'
import { rulesOf } from '../../keys/rules-by-path.ts'
import { isTopLevelExtension, SECTIONS, SETTINGS } from '../../keys/sections.ts'
import { assumedValues } from '../assumed-values.ts'
import { reportAlteredScalars } from '../checks/altered-scalars.ts'
import { checkRest } from '../checks/check-rest.ts'
import { reportSharedTargets } from '../checks/shared-targets.ts'
import { reportTokenNames } from '../checks/token-names.ts'
import { valuesFromSecrets } from '../checks/values-from-secrets.ts'
import { convertScalar } from '../convert.ts'
import { type LoadState, markBrokenSection, withoutInvalid, withoutInvalidKeys } from '../load-state.ts'
import { isServiceSection } from '../service-sections.ts'
import type { VariableScope } from '../variables.ts'
import { renameFormerExtensions } from './former-extensions.ts'

const CONVERSION = { casts: rulesOf('cast'), convert: convertScalar }

/** True if an error in a key leaves the rest of its entry usable. A job without `triggers` would become a service. */
const isPartOfService = (section: string | undefined, key: string): boolean =>
  isServiceSection(section) && (section !== 'jobs' || key !== 'triggers')

const notAMapping = diagnostic({
  code: 'schema/not-a-mapping',
  severity: 'error',
  explain:
    'The top level of a Compose file must be a mapping with keys such as `services`, not a list or a single value.',
  text: (p: { found: string }) => ({
    message: `${p.found === 'nothing' ? 'the document is empty' : `the file contains ${p.found}`}; a Compose file must be a mapping`,
    hint: p.found === 'nothing' ? 'remove the `---` of the empty document' : 'begin with `services:`',
  }),
})

/**
 * Returns the YAML documents of a file. Parses each file only once. Returns undefined if the file cannot be read, and
 * reports the error.
 */
export function documentsOf(
  path: string,
  what: string,
  state: LoadState,
  span: Span | undefined = state.places.get(path),
): readonly YamlDocument[] | undefined {
  const file = state.sources.open(path, what, state.reporter, span)
  if (!file) {
    state.incomplete = true
    return undefined
  }
  state.reporter.registerFile(file.path)
  if (!state.documents.has(file)) state.documents.set(file, parseYaml(file, state.reporter))
  const documents = state.documents.get(file)
  if (!documents) state.incomplete = true
  return documents
}

/**
 * Returns a document with its variables substituted and the results cast to their types, without the values in error.
 * Returns undefined if the document is empty, or if it is not a mapping (which is reported).
 */
export function readDocument(document: YamlDocument, variables: VariableScope, state: LoadState): MapTree | undefined {
  const { tree } = document
  if (!tree) return undefined
  if (!isMap(tree)) {
    const found = isNull(tree) ? 'nothing' : tree.kind === 'seq' ? 'a list' : 'a single value'
    state.reporter.report(notAMapping, tree.span, { found })
    state.incomplete = true
    return undefined
  }
  const { tree: result, failed } = interpolate(tree, variables.lookup, CONVERSION, state.reporter, {
    spared: valuesFromSecrets(tree, state.secretRules),
    assumed: state.assumesRequired && assumedValues,
  })
  if (result) variables.secrets.addFrom(result)
  reportTokenNames(tree, state.reporter)
  if (isMap(result)) reportSharedTargets(result, state.reporter)
  const invalid: string[] = []
  const invalidKeys = new Map<string, Set<string>>()
  for (const [section, name, key] of failed) {
    if (name !== undefined && key !== undefined && isPartOfService(section, key)) {
      const keys = invalidKeys.get(name)
      if (keys) keys.add(key)
      else invalidKeys.set(name, new Set([key]))
    } else if (name !== undefined && SECTIONS.has(section!)) invalid.push(`${section}.${name}`)
    else if (name === undefined && !isTopLevelExtension(section!)) markBrokenSection(section!, state)
  }
  const unusable = failed.flatMap(([section = '']) => (SETTINGS.has(section) ? [section] : []))
  if (isMap(result)) checkRest(result, invalidKeys, state.reporter)
  // The substitution of a mapping returns a mapping.
  const valid = withoutInvalidKeys(withoutKeys(result as MapTree, ...unusable), invalidKeys, state)
  const model = renameFormerExtensions(withoutInvalid(valid, invalid, state), state.reporter)
  reportAlteredScalars(model, state.reporter)
  return model
}
