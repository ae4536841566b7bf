import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../../diagnostics/reporter.ts'
import { suggest } from '../../../diagnostics/suggest.ts'
import type { Span } from '../../../text/source.ts'
import { get, isMap, isSeq, type MapTree, type ScalarTree, type Tree } from '../../../text/tree.ts'
import { scalarText } from '../../../text/tree-text.ts'
import type { BaseImagesOf } from '../context-services.ts'

// Diagnostics and helpers that the consistency checks share.

export const exclusive = diagnostic({
  code: 'services/exclusive-keys',
  severity: 'error',
  explain:
    'Two keys contradict each other and cannot be combined: `dockerfile` and `dockerfile_inline`, `network_mode` and `networks`, `container_name` and more than one container.',
  text: (p: { one: string; other: string; hint?: string | undefined }) => ({
    message: `\`${p.one}\` and \`${p.other}\` cannot be combined`,
    hint: p.hint ?? 'remove one of them',
  }),
})
const undefinedReference = diagnostic({
  code: 'reference/undefined',
  severity: 'error',
  explain:
    'A service refers to a network, volume, secret, config or model that no file defines at the top level, or to a service that does not exist. Define it, or correct the name. A host path must begin with `./` or `/`; otherwise it is read as the name of a volume.',
  text: (p: {
    kind: string
    name: string
    section: string
    suggestion?: string | undefined
    hint?: string | undefined
  }) => ({
    message: `the ${p.kind} \`${p.name}\` is not defined`,
    hint:
      p.hint ??
      (p.suggestion
        ? `did you mean \`${p.suggestion}\`?`
        : p.section === 'services'
          ? undefined
          : `define it under top-level \`${p.section}\`, or correct the name`),
  }),
})
const noSource = diagnostic({
  code: 'reference/no-source',
  severity: 'error',
  explain:
    'A service mounts a config or secret without naming it. `source` names one that top-level `configs` or `secrets` defines.',
  text: (p: { kind: string }) => ({ message: `a ${p.kind} has no \`source\``, hint: 'add `source: NAME`' }),
})

/** The input of the consistency checks. */
export interface ConsistencyInput {
  readonly model: MapTree
  /** All services of the files, before profiles are applied. */
  readonly allServices: MapTree | undefined
  /** True for a service or resource (`volumes.data`) that may have been removed because of an error. */
  readonly isInvalid: (path: string) => boolean
  /** True if a key of a service may have been removed because of an error. */
  readonly isInvalidKey: (service: string, key: string) => boolean
  /** True if a path, relative to the project folder, is a folder. */
  readonly isFolder: (path: string) => boolean
  /** Returns the images of other services that the Dockerfile of a service names. */
  readonly baseImages: BaseImagesOf
  readonly reporter: Reporter
}

/** Returns the scalar at a path of keys; undefined if it is absent, null, a list or a mapping. */
export const scalarAt = (tree: Tree | undefined, ...path: readonly string[]): ScalarTree | undefined => {
  const found = get(tree, ...path)
  return found?.kind === 'scalar' && found.type !== 'null' ? found : undefined
}
/** Returns the items of a list, and no items for any other value. */
export const items = (tree: Tree | undefined): readonly Tree[] => (isSeq(tree) ? tree.items : [])

/** Remaining number of spelling suggestions of each run, keyed by its reporter. */
const suggestions = new WeakMap<Reporter, number>()

/** A reference to a resource, such as a network, that its section does not define. */
export interface UndefinedReference {
  /** Kind of resource, for the message. */
  readonly kind: string
  /** Top-level key of the resources. */
  readonly section: string
  readonly name: string
  readonly span: Span
  readonly hint?: string | undefined
}

/**
 * Reports a reference to an undefined resource or service, unless that resource or service may have been removed
 * because of an error.
 */
export function reportUndefined(
  { kind, section, name, span, hint }: UndefinedReference,
  input: ConsistencyInput,
): void {
  if (input.isInvalid(`${section}.${name}`)) return
  const known = get(
    section === 'services'
      ? {
          kind: 'map',
          span,
          entries: new Map(input.allServices ? [['services', { key: span, value: input.allServices }]] : []),
        }
      : input.model,
    section,
  )
  // Comparing every unknown name with every known name would take quadratic time.
  const left = suggestions.get(input.reporter) ?? 50
  suggestions.set(input.reporter, left - 1)
  const suggestion = isMap(known) && left > 0 ? suggest(name, known.entries.keys()) : undefined
  input.reporter.report(undefinedReference, span, { kind, name, section, suggestion, hint })
}

/** Checks that the configs or secrets in the list of a service are defined at the top level. */
export function checkSources(
  kind: string,
  section: 'configs' | 'secrets',
  mounts: Tree | undefined,
  input: ConsistencyInput,
): void {
  for (const mount of items(mounts)) {
    const source = scalarAt(mount, 'source')
    if (!source) input.reporter.report(noSource, mount.span, { kind })
    else if (!get(input.model, section, scalarText(source)))
      reportUndefined({ kind, section, name: scalarText(source), span: source.span }, input)
  }
}
