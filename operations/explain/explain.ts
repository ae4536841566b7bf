import { resolve } from 'node:path'
import type { Loaded } from '../../compiler/compose/load/loaded.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Span } from '../../compiler/text/source.ts'
import { KnownSecrets } from '../../compiler/values/secrets/known-secrets.ts'
import { pathText } from '../../environment/plan/comparison.ts'
import { type DroppedLine, droppedOn } from '../../explain/dropped-lines.ts'
import { type ExplainedSettings, explainField, type FieldExplanation } from '../../explain/explain-field.ts'
import { explainNode, type NodeExplanation } from '../../explain/explain-node.ts'
import { explainSetting, type SettingExplanation } from '../../explain/explain-setting.ts'
import { findField, findObject } from '../../explain/find-field.ts'
import { findNode, nodesOn, replacedOn, variablesOn } from '../../explain/find-node.ts'
import { Influences } from '../../explain/influences.ts'
import { maskedField, maskedNode } from '../../explain/masked.ts'
import { modelInFiles } from '../../explain/model-in-files.ts'
import { settingsOf } from '../../explain/settings.ts'
import type { ExplainTarget } from '../../explain/target.ts'
import { compileFiles } from '../../project/compile-files.ts'
import type { LoadInput, PlanInput } from '../../project/input.ts'
import { nothingToRender } from '../../project/nothing-to-render.ts'
import { openProject } from '../../project/open-project.ts'
import type { LocalContext } from '../../project/session.ts'
import type { Workspace } from '../../project/workspace.ts'
import { fieldAt } from './rendered-file.ts'

export interface ExplainInput extends LoadInput, PlanInput {
  readonly target: ExplainTarget
}

export type ExplainOutcome =
  /** The files have errors, so there are no objects. */
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] }
  /**
   * Explanation of lines: the values of the Compose files and the settings, each with the parts of the objects that it
   * became.
   */
  | {
      readonly kind: 'lines'
      readonly nodes: readonly NodeExplanation[]
      readonly settings: readonly SettingExplanation[]
      /** Values of the line that `!reset` or `!override` of a later file removes; absent if there are none. */
      readonly dropped?: readonly DroppedLine[]
    }
  /** Values of an object, each with the lines that it comes from. */
  | {
      readonly kind: 'fields'
      readonly object: string
      readonly path: string
      readonly fields: readonly FieldExplanation[]
    }

/**
 * Explains what a line of the files became, or which lines a value of an object comes from. Uses only files, no
 * cluster. Throws a UserError if the target does not exist.
 */
export async function explain(
  { workspace }: Pick<LocalContext, 'workspace'>,
  { target, ...input }: ExplainInput,
): Promise<ExplainOutcome> {
  const project = await openProject(workspace, input)
  const compiled = await compileFiles(workspace, [], input, input, { project })
  const { plan, diagnostics, hasNoCompose, manifest } = compiled
  if (hasNoCompose && manifest) throw nothingToRender(manifest)
  const model = modelInFiles(compiled)
  if (!plan || !model) return { kind: 'refused', diagnostics }
  const { toManifests } = await import('../../constructs/index.ts')
  const { loaded, withModel } = model
  const influences = new Influences(loaded.tree, withModel, toManifests)
  const nameSpan = loaded.nameSpan
  const settings = settingsOf({ plan, input, project, env: workspace.env, nameSpan })
  const explained = { loaded, influences, diagnostics, settings }
  const secrets = new KnownSecrets(compiled.secrets.values)
  const found = answer(target, explained, workspace)
  return found.kind === 'lines'
    ? { ...found, nodes: found.nodes.map(one => maskedNode(one, secrets)) }
    : { ...found, fields: found.fields.map(one => maskedField(one, found.object, secrets)) }
}

type Answer = Exclude<ExplainOutcome, { readonly kind: 'refused' }>

function answer(target: ExplainTarget, explained: ExplainedSettings, workspace: Workspace): Answer {
  switch (target.kind) {
    case 'key':
      return { kind: 'lines', nodes: [explainNode(findNode(target.path, explained.loaded), explained)], settings: [] }
    case 'position':
      return atPosition(target, explained, workspace)
    case 'object':
      return ofObject(target, explained)
  }
}

function ofObject(
  { objectKind, name, path }: Omit<ExplainTarget & { readonly kind: 'object' }, 'kind'>,
  explained: ExplainedSettings,
): Answer {
  const id = findObject(objectKind, name, explained.influences)
  const object = explained.influences.objects.get(id)!
  const keys = findField(object, path)
  return { kind: 'fields', object: object.name, path: pathText(keys), fields: explainField(id, keys, explained) }
}

function atPosition(
  { file, line, column }: ExplainTarget & { readonly kind: 'position' },
  explained: ExplainedSettings,
  { cwd }: Workspace,
): Answer {
  const { loaded, settings } = explained
  const path = resolve(cwd, file)
  const isFile = (span: Span) => span.file.location === path || span.file.path === file
  const isHere = ({ span }: { readonly span?: Span }) =>
    span !== undefined && isFile(span) && span.file.position(span.start).line === line
  const own = settings.filter(isHere).map(one => explainSetting(one, explained))
  const found = [
    nodesOn(loaded, isFile, line, column),
    replacedOn(loaded, isFile, line),
    variablesOn(loaded, shown => resolve(cwd, shown) === path, line),
  ]
  // The settings include the name of the application.
  const nodes = (found.find(some => some.length > 0) ?? []).filter(({ path: [key] }) => key !== 'name')
  if (nodes.length > 0 || own.length > 0)
    return { kind: 'lines', nodes: nodes.map(node => explainNode(node, explained)), settings: own }
  const dropped = droppedOn(loaded, isFile, line)
  if (dropped.length > 0) {
    const replacing = dropped.flatMap(({ replacement = [] }) => replacement)
    return {
      kind: 'lines',
      nodes: replacing.map(node => explainNode(node, explained)),
      settings: [],
      dropped: dropped.map(({ shown }) => shown),
    }
  }
  const isSource = isCompiled(loaded, path) || settings.some(({ span }) => span && isFile(span))
  const field = isSource ? undefined : fieldAt(path, file, line)
  if (field) return ofObject(field, explained)
  const lines = isSource ? lineCount(loaded, isFile) : undefined
  if (lines !== undefined && line > lines)
    throw new UserError(`\`${file}\` has only ${lines} ${lines === 1 ? 'line' : 'lines'}`)
  throw new UserError(`line ${line} of \`${file}\` sets nothing that reaches the manifests`, {
    hint: isSource
      ? nearest(loaded, isFile, line)
      : 'name a line of a Compose file, of `devctl.yml`, or of rendered manifests',
  })
}

/** Returns the number of lines of a Compose file; undefined if the file was not read. */
function lineCount({ documents }: Loaded, isFile: (span: Span) => boolean): number | undefined {
  const text = documents.find(({ span }) => isFile(span))?.span.file.text
  return text === undefined ? undefined : text.replace(/\r?\n$/, '').split('\n').length
}

const isCompiled = ({ sources }: Loaded, path: string): boolean => sources.includes(path)

/** Returns a hint that names the closest line with a value or, if none is near, the command that lists these lines. */
function nearest(loaded: Loaded, isFile: (span: Span) => boolean, line: number): string {
  for (let distance = 1; distance < 200; distance++)
    for (const near of [line - distance, line + distance]) {
      const [node] = nodesOn(loaded, isFile, near)
      if (node) return `the closest line with a value is ${near}`
    }
  return '`devctl config --provenance` lists the lines that have values'
}
