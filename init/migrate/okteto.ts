import { editYaml } from '../../adapters/files/yaml-edit.ts'
import { removeFromYaml } from '../../adapters/files/yaml-remove.ts'
import { entries } from '../../compiler/compose/read/tree-values.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { type OktetoChange, type OktetoRename, readOkteto } from '../../compiler/manifest/okteto.ts'
import { unknownKeysIn } from '../../compiler/manifest/okteto-unknown.ts'
import { toDevctlVariables } from '../../compiler/manifest/okteto-variables.ts'
import { readManifest } from '../../compiler/manifest/read.ts'
import { formatPath, type ModelPath } from '../../compiler/schema/model-path.ts'
import { parseYaml } from '../../compiler/text/parse.ts'
import { SourceFile } from '../../compiler/text/source.ts'
import { isMap, type MapTree } from '../../compiler/text/tree.ts'
import { compileFiles } from '../../project/compile-files.ts'
import { createHost } from '../../project/node-host.ts'
import type { Workspace } from '../../project/workspace.ts'
import { notCarriedOver } from './notes.ts'

/**
 * Converts an Okteto manifest into the text of `devctl.yml`, with its comments, and reports what is lost. Returns
 * undefined if the file cannot be read, which is reported.
 */
export async function manifestOfOkteto(
  file: SourceFile,
  path: string,
  workspace: Workspace,
  reporter: Reporter,
): Promise<string | undefined> {
  const { env } = workspace
  const tree = parseYaml(file, reporter)?.[0]?.tree
  if (!isMap(tree)) {
    if (!reporter.hasErrors) throw new UserError(`\`${file.path}\` is not a manifest`)
    return undefined
  }
  const lookup = (name: string) => {
    const value = env[name]
    return value === undefined ? undefined : { value, origin: 'the shell' }
  }
  const { changes, renames, only, tree: read } = readOkteto(tree, path, { lookup, reporter })
  const unknown = unknownKeysIn(read)
  for (const one of unknown)
    reporter.report(notCarriedOver, one.key, {
      what: formatPath(one.path),
      why: 'devctl does not know this key',
      hint: one.hint,
    })
  const text = withRenames(file.text, renames)
  const whole = only === undefined ? text : asSection(text, only)
  const ofServices = await buildsOfServices(path, tree, workspace, reporter)
  const doubled = ofServices.map(name => ({ path: ['build', name], value: undefined }))
  // From the end, because the items after a removed one move up.
  const left = unknown.map(one => ({ path: one.path, value: undefined })).toReversed()
  const changed = await withChanges(whole, file.path, [...left, ...changes, ...doubled])
  const result = parseYaml(new SourceFile(file.path, changed, file.location), new Reporter())?.[0]?.tree
  return isMap(result) ? toDevctlVariables(changed, result) : changed
}

/**
 * Returns the errors of an Okteto manifest that the converted manifest would still have, such as invalid values.
 * Unknown keys are not returned, because the conversion removes and reports them.
 */
export function errorsInOkteto(path: string, { cwd, env }: Workspace): readonly Diagnostic[] {
  const { diagnostics } = readManifest({ path, workingDirectory: cwd }, createHost({ env }))
  return diagnostics.filter(
    ({ severity, code }) => severity === 'error' && code.startsWith('manifest/') && code !== 'manifest/unknown-key',
  )
}

/**
 * Returns the names of the entries in `build` of the manifest whose service has `build` in the Compose files, too.
 * Reports each of these entries as not carried over.
 */
async function buildsOfServices(
  path: string,
  tree: MapTree,
  workspace: Workspace,
  reporter: Reporter,
): Promise<readonly string[]> {
  const builds = entries(tree, 'build')
  if (builds.size === 0) return []
  // Errors of the Compose files are for `validate`.
  const { project } = await compileFiles(workspace, [], { file: [path] })
  return [...builds].flatMap(([name, { key }]) => {
    if (!project?.services.get(name)?.build) return []
    reporter.report(notCarriedOver, key, {
      what: `build.${name}`,
      why: `the service \`${name}\` has \`build\`, too, and devctl builds it from there`,
      hint: 'write its settings at the service',
    })
    return [name]
  })
}

function withRenames(text: string, renames: readonly OktetoRename[]): string {
  const last = [...renames].sort((a, b) => b.key.start - a.key.start)
  return last.reduce((all, { key, name }) => all.slice(0, key.start) + name + all.slice(key.end), text)
}

interface Change extends Pick<OktetoChange, 'value'> {
  readonly path: ModelPath
}

async function withChanges(text: string, shown: string, changes: readonly Change[]): Promise<string> {
  let edited = text
  for (const { path, value } of changes) {
    const result = await (value === undefined ? removeFromYaml(edited, path) : editYaml(edited, { path, value }))
    if (!result.ok)
      throw new UserError(`\`${shown}\` cannot be converted: ${result.problem}`, {
        hint: `change \`${path.join('.')}\` by hand first`,
      })
    edited = result.text
  }
  return edited
}

/**
 * Matches keys of the first format of Okteto manifests that are about the whole manifest. They stay at the top level.
 */
const OF_MANIFEST = /^(?:namespace|context)[ \t]*:/

/** Moves the keys of a manifest with only one development container to `dev.NAME`. */
function asSection(text: string, name: string): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/)
  const first = lines.findIndex(line => /^[^\s#]/.test(line) && !line.startsWith('---'))
  const isOwn = (line: string) => !OF_MANIFEST.test(line) && !/^(?:name|icon)[ \t]*:/.test(line)
  const body = lines.slice(first)
  const top = body.filter(line => OF_MANIFEST.test(line))
  const below = body.filter(isOwn).map(line => (line === '' ? '' : `    ${line}`))
  const key = /^[\w-]+$/.test(name) ? name : JSON.stringify(name)
  return `${[...lines.slice(0, first), ...top, 'dev:', `  ${key}:`, ...below].join(eol)}${eol}`
}
