import type { SourceFile, Span } from '../../text/source.ts'
import { get, isMap, isSeq, type MapTree, type Tree } from '../../text/tree.ts'
import type { VariableScope } from './variables.ts'

/**
 * Variables of included projects, by service or resource (`services.web`), and by the file of the line that uses the
 * variables. A service may be defined by several projects, and several projects may extend a service of the same file.
 */
export type Scopes = Map<string, Map<SourceFile, VariableScope>>

/** Records the variables for the lines of an included project, except for the lines of projects that it includes. */
export function recordScopes(project: MapTree, variables: VariableScope, scopes: Scopes): void {
  for (const section of ['services', 'jobs', 'secrets', 'configs']) {
    const definitions = get(project, section)
    if (!isMap(definitions)) continue
    for (const [name, { value }] of definitions.entries) {
      // Jobs become services.
      const path = `${section === 'jobs' ? 'services' : section}.${name}`
      for (const { file } of linesWithVariables(value)) recordScope(path, file, variables, scopes)
    }
  }
}

function recordScope(path: string, file: SourceFile, variables: VariableScope, scopes: Scopes): void {
  const byFile = scopes.get(path) ?? new Map<SourceFile, VariableScope>()
  if (!byFile.has(file)) byFile.set(file, variables)
  scopes.set(path, byFile)
}

/** Finds the variables for a line of a definition. */
export type ScopeOf = (line: Span) => VariableScope

/**
 * Returns a function that finds the variables for a line of a service or resource: the variables of the included
 * project that contains the line, or else `root`.
 */
export const scopeOf =
  (path: string, root: VariableScope, scopes: Scopes): ScopeOf =>
  ({ file }) =>
    scopes.get(path)?.get(file) ?? root

/** Returns the lines of a definition whose values come from variables: variables without a value, and env files. */
function linesWithVariables(definition: Tree): readonly Span[] {
  const hooks = get(definition, 'pre_start')
  return [definition, ...(isSeq(hooks) ? hooks.items : [])].flatMap(container => [
    ...linesOfEnvironment(get(container, 'environment')),
    ...linesOfEnvFiles(get(container, 'env_file')),
  ])
}

/**
 * Returns the lines of `environment`: of each variable of a service, or of the one variable of a secret or config.
 */
function linesOfEnvironment(environment: Tree | undefined): readonly Span[] {
  if (isMap(environment)) return [...environment.entries.values()].map(({ key }) => key)
  return environment ? [environment.span] : []
}

const linesOfEnvFiles = (files: Tree | undefined): readonly Span[] =>
  isSeq(files) ? files.items.map(file => get(file, 'path')?.span ?? file.span) : []
