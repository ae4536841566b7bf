import { basename, dirname, resolve } from 'node:path/posix'
import { circle } from '../../../diagnostics/circle.ts'
import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import { shapeOf } from '../../../schema/row.ts'
import type { Span } from '../../../text/source.ts'
import {
  type Entry,
  entry,
  get,
  isMap,
  isNull,
  type MapTree,
  type Tree,
  withEntry,
  withoutKeys,
} from '../../../text/tree.ts'
import { treeKey } from '../../../text/tree-text.ts'
import { composeShape } from '../../keys/compose.ts'
import { SECTIONS, SETTINGS } from '../../keys/sections.ts'
import { validateAt } from '../checks/validate.ts'
import type { LoadState, ProjectScope } from '../load-state.ts'
import { recordScopes } from '../scopes.ts'
import type { EnvFilePath } from '../variables.ts'
import { mergeAt } from './merge.ts'
import { REMOTE_FILE } from './remote-file.ts'
import type { Resets } from './reset.ts'

const cycle = diagnostic({
  code: 'include/cycle',
  severity: 'error',
  explain: 'A file includes itself, directly or through others. Remove one of the `include` entries.',
  text: (p: { chain: readonly string[] }) => ({
    message: `files include each other in a cycle: ${circle(p.chain)}`,
  }),
})
const remote = diagnostic({
  code: 'include/remote-file',
  severity: 'error',
  explain:
    'devctl includes local files only, not files in git repositories or registries. Check out the repository and name the local file.',
  text: (p: { path: string }) => ({
    message: `\`${p.path}\` is not a local file`,
    hint: 'check out the repository and name the local file',
  }),
})
const tooDeep = diagnostic({
  code: 'include/too-deep',
  severity: 'error',
  explain:
    'Includes must not be nested more than 100 levels deep. The limit protects against files that are made to exhaust memory.',
  text: (_: Record<never, never>) => ({ message: 'includes are nested more than 100 levels deep' }),
})
const conflict = diagnostic({
  code: 'include/conflict',
  severity: 'warning',
  strict: true,
  explain:
    'A file and a file that it includes define the same resource. devctl merges the two; the including file wins. The Compose Specification makes this an error, and so does `--strict`. To replace the included definition, put `!override` before yours.',
  text: (p: { what: string; name: string; included: string }) => ({
    message: `\`${p.what}\` is also defined in an included file; this definition is merged over it`,
    hint: `if the two are unrelated, rename one, for example \`${p.name}\` in ${p.included}; to replace it, put \`!override\` before this one`,
  }),
})

const MAX_DEPTH = 100

/** Loads the files of a project. Returns undefined if none of them could be read, and reports the errors. */
type LoadModel = (files: readonly string[], scope: ProjectScope, state: LoadState) => MapTree | undefined

/**
 * Loads the projects that a document includes and merges the document's definitions over them
 * (https://github.com/compose-spec/compose-spec/blob/main/14-include.md).
 */
export function applyIncludes(
  model: MapTree,
  scope: ProjectScope,
  resets: Resets,
  state: LoadState,
  loadModel: LoadModel,
): MapTree {
  const included = entry(model, 'include')
  if (!included) return model
  let result = withoutKeys(model, 'include')
  if (isNull(included.value)) return result
  const shape = shapeOf(composeShape.map!.keys['include']!)
  if (!shape || !validateAt(['include'], included.value, shape, state.reporter) || included.value.kind !== 'seq') {
    state.incomplete = true
    return result
  }
  for (const item of included.value.items) {
    const imported = loadIncluded(item, scope, state, loadModel)
    if (imported) result = importInto(result, resets.applyTo(imported), state)
  }
  return result
}

function loadIncluded(item: Tree, scope: ProjectScope, state: LoadState, loadModel: LoadModel): MapTree | undefined {
  const { reporter, sources, host } = state
  const written = item.kind === 'scalar' ? texts(item) : texts(get(item, 'path'))
  const outside = written.find(path => REMOTE_FILE.test(path.value))
  if (outside) {
    reporter.report(remote, outside.span, { path: outside.value })
    state.incomplete = true
    return undefined
  }
  const files = written.map(path => resolve(scope.directory, path.value))
  const [main] = files
  if (main === undefined) return undefined
  if (scope.including.includes(main)) {
    reporter.report(cycle, written[0]!.span, { chain: [...scope.including, main].map(path => sources.display(path)) })
    state.incomplete = true
    return undefined
  }
  if (scope.including.length > MAX_DEPTH) {
    reporter.report(tooDeep, written[0]!.span, {})
    state.incomplete = true
    return undefined
  }
  for (const [index, path] of files.entries()) {
    // An unreadable file is reported at its `include` entry.
    if (sources.open(path, 'the included file', reporter, written[index]!.span)) continue
    state.incomplete = true
    return undefined
  }
  const [given] = texts(get(item, 'project_directory'))
  const directory = given ? resolve(scope.directory, given.value) : dirname(main)
  const listed = texts(get(item, 'env_file'))
  const own = listed.filter(path => path.value !== '/dev/null')
  const envFiles: EnvFilePath[] = listed.length
    ? own.map(path => ({ path: resolve(scope.directory, path.value), span: path.span }))
    : host.stat(resolve(directory, '.env'))?.kind === 'file'
      ? [{ path: resolve(directory, '.env') }]
      : []
  // A file that is included several times is loaded once for each set of env files.
  const key = JSON.stringify([files, directory, envFiles.map(({ path }) => path)])
  const before = scope.variables.included.get(key)
  if (before) return before.model
  reporter.budget.spend('loads', 1, written[0]!.span)
  const variables = scope.variables.withFiles(envFiles, sources, reporter)
  const loaded = loadModel(files, { directory, variables, including: scope.including }, state)
  scope.variables.included.set(key, { model: loaded })
  if (loaded) recordScopes(loaded, variables, state.scopes)
  return loaded
}

function importInto(model: MapTree, imported: MapTree, state: LoadState): MapTree {
  let result = model
  for (const section of SECTIONS) {
    const from = entry(imported, section)
    if (!from || !isMap(from.value)) continue
    const to = get(result, section)
    const entries = new Map<string, Entry>(from.value.entries)
    if (isMap(to))
      for (const [name, own] of to.entries) {
        const base = entries.get(name)
        if (base && base.value !== own.value && treeKey(base.value) !== treeKey(own.value)) {
          const included = base.key.file.path
          const parameters = {
            what: `${section}.${name}`,
            name: `${folderOrFile(included)}-${name}`,
            included,
          }
          state.reporter.report(conflict, own.key, parameters, [{ span: base.key, message: 'included from here' }])
          entries.set(name, { key: own.key, value: mergeAt([section, name], base.value, own.value, state.reporter) })
        } else if (!base) entries.set(name, own)
      }
    result = withEntry(
      result,
      section,
      { kind: 'map', span: isMap(to) ? to.span : from.value.span, entries },
      entry(result, section)?.key ?? from.key,
    )
  }
  for (const key of SETTINGS) {
    const from = entry(imported, key)
    if (!from) continue
    const own = entry(result, key)
    result = withEntry(
      result,
      key,
      own ? mergeAt([key], from.value, own.value, state.reporter) : from.value,
      own?.key ?? from.key,
    )
  }
  return result
}

/**
 * Returns a short name for an included file: the name of its folder, or the name of the file without its extension if
 * the path has no folder.
 */
function folderOrFile(path: string): string {
  const folder = basename(dirname(path))
  return /^\.{0,2}$/.test(folder) ? basename(path).replace(/\.\w+$/, '') : folder
}

/** Returns the text of a scalar, or the texts of a list. */
function texts(tree: Tree | undefined): readonly { readonly value: string; readonly span: Span }[] {
  const items = tree?.kind === 'seq' ? tree.items : tree ? [tree] : []
  return items.flatMap(item =>
    item.kind === 'scalar' && typeof item.value === 'string' ? [{ value: item.value, span: item.span }] : [],
  )
}
