import type { Span } from '../../compiler/text/source.ts'
import { get, isMap, type MapTree, type Tree, type UsedVariable } from '../../compiler/text/tree.ts'
import { nodeAt } from '../text/outline-node.ts'
import type { AskedDocument } from './question.ts'
import type { NamedSection } from './references.ts'

/** Returns the names in a section: from the document as it is typed, and from the other files of the project. */
export function namesIn(asked: AskedDocument, section: NamedSection): readonly string[] {
  const own = asked.kind === 'compose' ? (nodeAt(asked.outline, [section])?.children ?? []) : []
  const names = new Set(own.map(({ step }) => step))
  for (const document of otherDocuments(asked)) for (const name of keysOf(get(document, section))) names.add(name)
  names.delete('')
  return [...names]
}

/** Returns the profiles of the services and jobs in the document and in the other files of the project. */
export function profilesIn(asked: AskedDocument): readonly string[] {
  const profiles = new Set<string>()
  for (const section of ['services', 'jobs']) {
    for (const { children } of nodeAt(asked.outline, [section])?.children ?? [])
      for (const { scalar } of children.find(({ step }) => step === 'profiles')?.children ?? [])
        if (scalar) profiles.add(scalar.text)
    for (const document of otherDocuments(asked))
      for (const profile of listedProfiles(get(document, section))) profiles.add(profile)
  }
  return [...profiles]
}

function listedProfiles(section: Tree | undefined): readonly string[] {
  const lists = isMap(section) ? [...section.entries.values()].map(({ value }) => get(value, 'profiles')) : []
  const items = lists.flatMap(list => (list?.kind === 'seq' ? list.items : []))
  return items.flatMap(item => (item.kind === 'scalar' ? [String(item.value)] : []))
}

/**
 * Returns the position at which a section of another file of the project defines a name. Searches only `file` if given.
 * Undefined if the name is not defined.
 */
export function spanOfName(asked: AskedDocument, section: string, name: string, file?: string): Span | undefined {
  for (const document of otherDocuments(asked)) {
    if (file !== undefined && document.span.file.location !== file) continue
    const found = get(document, section)
    const entry = isMap(found) ? found.entries.get(name) : undefined
    if (entry) return entry.key
  }
  return undefined
}

/**
 * Returns the names of the variables that can be used: variables of env files and of the manifest, and variables that
 * the files already use.
 */
export function variablesIn(asked: AskedDocument): readonly string[] {
  const { project } = asked
  const names = new Set<string>()
  for (const text of project?.envFiles.values() ?? [])
    for (const [, name] of text.matchAll(/^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*[=:]/gm)) names.add(name!)
  for (const { name } of project?.compiled.environment?.variables ?? []) names.add(name)
  for (const [, name] of asked.document.getText().matchAll(/\$\{?([A-Za-z_]\w*)/g)) names.add(name!)
  const model = project?.compiled.loaded?.tree
  if (model) for (const { name } of usedVariables(model)) names.add(name)
  return [...names]
}

function* usedVariables(tree: Tree): Generator<UsedVariable> {
  if (tree.kind === 'scalar') yield* tree.variables ?? []
  else for (const child of childrenOf(tree)) yield* usedVariables(child)
}

/** Returns the values in a mapping, or the items of a list; empty for a scalar. */
export function childrenOf(tree: Tree): readonly Tree[] {
  if (tree.kind === 'scalar') return []
  return tree.kind === 'seq' ? tree.items : [...tree.entries.values()].map(({ value }) => value)
}

const otherDocuments = ({ project, path }: AskedDocument): readonly MapTree[] =>
  project?.compiled.loaded?.documents.filter(({ span }) => span.file.location !== path) ?? []

const keysOf = (tree: Tree | undefined): readonly string[] => (isMap(tree) ? [...tree.entries.keys()] : [])
