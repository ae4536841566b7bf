import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import { isTokenVariable } from '../values/secrets/token-variables.ts'
import { ITEM, PathRules, type RuleStep } from './path.ts'
import { scalarPlaces } from './scalar-places.ts'
import type { Span } from './source.ts'
import { type Lookup, substitute, type TemplateResult } from './template.ts'
import type { Entry, MissingVariable, Piece, ScalarTree, Tree } from './tree.ts'

/**
 * Minimum number of characters that each variable in a value counts as in the `text` budget, however short the value
 * is, because the position of the variable is stored as well.
 */
const LEAST_OF_VARIABLE = 256

const invalid = diagnostic({
  code: 'interpolation/invalid',
  severity: 'error',
  explain:
    'Invalid `${…}` expression. Compose supports `$NAME`, `${NAME}`, `${NAME:-default}`, `${NAME-default}`, `${NAME:?message}`, `${NAME?message}`, `${NAME:+replacement}` and `${NAME+replacement}`; an expression must end on the line where it begins. For a literal dollar sign, write `$$`.',
  text: (p: { message: string; hint?: string | undefined }) => ({
    message: p.message,
    hint: p.hint ?? 'write `$$` for a dollar sign',
  }),
})
const required = diagnostic({
  code: 'interpolation/required',
  severity: 'error',
  explain:
    'The file requires this variable with `${NAME:?message}`, and it is not set. Set it in the shell, in `.env` next to the Compose file, or in a file named with `--env-file`. With `:?` the variable must not be empty either.',
  text: (p: Pick<MissingVariable, 'name' | 'message'>) => ({
    message: `\`${p.name}\` is required${p.message ? `: ${p.message}` : ''}`,
    notes: ["looked in the shell, in .env, and in the platform's variables"],
  }),
})
const unset = diagnostic({
  code: 'interpolation/unset',
  severity: 'warning',
  explain:
    'This variable is not set, so it becomes empty. Set it, or give it a default: `${NAME:-value}`, or `${NAME:-}` for an empty value. For a literal dollar sign, write `$$`.',
  text: (p: { name: string }) => ({
    message: `\`${p.name}\` is not set and becomes empty`,
    hint: `set it, or write \`\${${p.name}:-}\` for an empty value, or \`$$${p.name}\` for a literal dollar sign`,
  }),
})

/** Reported if a value in a file would contain a devctl token. */
const tokenInContent = diagnostic({
  code: 'interpolation/token',
  severity: 'error',
  explain:
    'Tokens of devctl (`DEVCTL_TOKEN`, `DEVCTL_GIT_TOKEN`, `DEVCTL_REGISTRY_TOKEN`, `DEVCTL_FORGE_TOKEN`) are how devctl itself logs in, with all that its user may do. What a file contains is deployed, built or committed, where others can read it, so no value can be made of them, whether they are set or not. Give the application a credential of its own, in a variable with another name.',
  text: (p: { name: string }) => ({
    message: `\`${p.name}\` is the token with which devctl logs in; it cannot be part of a value`,
    hint: 'use a credential of its own, in a variable with another name',
  }),
})

/** Reports a variable in a value if the variable is a devctl token. */
export function reportToken(name: string, span: Span, reporter: Reporter): void {
  if (isTokenVariable(name)) reporter.report(tokenInContent, span, { name })
}

/** The replacement for a value that may not be needed. It is used if variables of the value are not set. */
export interface Spared {
  readonly value: ScalarTree
  /** True if the value is certainly not needed. False if that depends on the use of the document. */
  readonly isCertain: boolean
}

/** The handling of variables that are not set. */
interface Unset {
  /**
   * Returns the replacement for a value whose variables need not be set, and undefined for other values. The variables
   * that are not set are recorded in the replacement.
   */
  readonly spared?: ((path: readonly string[], scalar: ScalarTree) => Spared | undefined) | undefined
  /**
   * Returns the lookup of assumed values for the required variables at a path; undefined for paths without assumed
   * values.
   */
  readonly assumed?: ((path: readonly string[]) => Lookup | undefined) | undefined
}

/** Reports required variables that are not set. */
export function reportMissing(missing: readonly MissingVariable[], reporter: Reporter): void {
  for (const { name, message, span } of missing) reporter.report(required, span, { name, message })
}

/**
 * Converts a value to the type that its path requires. Reports a value that cannot be converted and returns undefined.
 */
export type Convert = (scalar: ScalarTree, cast: string, reporter: Reporter) => ScalarTree | undefined

/** The casts by path, and the function that applies one. */
export interface Conversion<C extends string> {
  readonly casts: PathRules<C>
  readonly convert: Convert
}

/**
 * Substitutes the variables in every string value of a document (never in keys) and converts the values at the paths of
 * `casts`. A value with the cast `verbatim` stays as written. If variables of a value are missing and `spared` returns
 * a replacement, the replacement records the variables. A value in error is reported and removed together with its
 * entry, so that nothing is reported twice. The paths of such values are returned in `failed`.
 */
export function interpolate<C extends string>(
  tree: Tree,
  lookup: Lookup,
  { casts, convert }: Conversion<C>,
  reporter: Reporter,
  { spared, assumed }: Unset = {},
): { readonly tree: Tree | undefined; readonly failed: readonly (readonly string[])[] } {
  const failed: (readonly string[])[] = []
  const path: string[] = []

  const walk = (node: Tree, step: RuleStep<C> | undefined): Tree | undefined => {
    switch (node.kind) {
      case 'map': {
        let entries: Map<string, Entry> | undefined
        for (const [key, entry] of node.entries) {
          path.push(key)
          const value = walk(entry.value, PathRules.below(step, key))
          path.pop()
          if (value === entry.value) continue
          entries ??= new Map(node.entries)
          if (value) entries.set(key, { key: entry.key, value })
          else entries.delete(key)
        }
        return entries ? { ...node, entries } : node
      }
      case 'seq': {
        let items: (Tree | undefined)[] | undefined
        for (const [index, item] of node.items.entries()) {
          path.push(String(index))
          const value = walk(item, PathRules.below(step, ITEM))
          path.pop()
          if (value === item) continue
          items ??= [...node.items]
          items[index] = value
        }
        return items ? { ...node, items: items.filter(item => item !== undefined) } : node
      }
      case 'scalar':
        return scalar(node, step)
    }
  }

  /** The devctl tokens in the value that is currently being substituted. */
  const tokens = new Set<string>()
  const lookupValue: Lookup = name => {
    if (!isTokenVariable(name)) return lookup(name)
    tokens.add(name)
    return { value: name, origin: 'devctl' }
  }

  const substituteAt = (text: string): ReturnType<typeof substitute> => {
    tokens.clear()
    const substituted = substitute(text, lookupValue)
    const known = 'errors' in substituted ? assumed?.(path) : undefined
    if (!known || !('errors' in substituted)) return substituted
    const missing = new Set(substituted.errors.map(({ kind, name }) => (kind === 'required' ? name : undefined)))
    return substitute(text, name => (missing.has(name) ? known(name) : lookupValue(name)))
  }

  const scalar = (node: ScalarTree, step: RuleStep<C> | undefined): Tree | undefined => {
    if (node.type !== 'string') return node
    const text = node.value as string // type 'string' says so
    const cast: string | undefined = PathRules.at(step)
    if (cast === 'verbatim') return node
    let result = node
    if (text.includes('$')) {
      const substituted = substituteAt(text)
      if ('value' in substituted) {
        const { value, variables } = substituted
        reporter.budget.spend('text', Math.max(value.length, LEAST_OF_VARIABLE * variables.length), node.span)
      }
      const place = scalarPlaces(node, text)
      for (const name of tokens) {
        const start = text.indexOf(name)
        reportToken(name, place(start, start + name.length), reporter)
      }
      if (tokens.size > 0) {
        failed.push([...path])
        return undefined
      }
      const instead = spared?.(path, node)
      if ('errors' in substituted) {
        const missing = substituted.errors
          .filter(({ kind }) => kind === 'required')
          .map(({ name = '', message, start, end }) => ({ name, message, span: place(start, end) }))
        if (instead && missing.length === substituted.errors.length) return { ...instead.value, missing }
        reportMissing(missing, reporter)
        for (const error of substituted.errors) {
          const span = place(error.start, error.end)
          if (error.kind !== 'required') reporter.report(invalid, span, { message: error.message, hint: error.hint })
        }
        failed.push([...path])
        return undefined
      }
      for (const { name, start, end } of instead?.isCertain ? [] : substituted.unset)
        reporter.report(unset, place(start, end), { name })
      result = substitutedScalar(node, text, substituted, place)
    }
    if (cast === undefined) return result
    const converted = convert(result, cast, reporter)
    if (!converted) failed.push([...path])
    return converted
  }

  return { tree: walk(tree, casts.start), failed }
}

function substitutedScalar(
  node: ScalarTree,
  text: string,
  result: TemplateResult,
  place: (start: number, end: number) => Span,
): ScalarTree {
  const pieces: Piece[] = result.pieces.map(({ at, length, start, end, verbatim }) => {
    const span = place(start, end)
    return { at, length, span, verbatim: verbatim && span.end - span.start === length }
  })
  return {
    ...node,
    value: result.value,
    template: text,
    pieces,
    ...(result.variables.length > 0 && {
      variables: result.variables.map(({ start, end, ...variable }) => ({ ...variable, span: place(start, end) })),
    }),
  }
}
