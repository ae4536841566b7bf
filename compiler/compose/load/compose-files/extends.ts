import { dirname } from 'node:path/posix'
import { circle } from '../../../diagnostics/circle.ts'
import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import { suggest } from '../../../diagnostics/suggest.ts'
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
import { absolutePath } from '../../keys/host-paths.ts'
import { shapeAt } from '../../keys/lookup.ts'
import { validateAt } from '../checks/validate.ts'
import { type LoadState, markInvalidKeys, type ProjectScope } from '../load-state.ts'
import { removeDuplicates } from '../remove-duplicates.ts'
import { canonical } from './canonical.ts'
import { documentsOf, readDocument } from './documents.ts'
import { mergeAt, mergeModels } from './merge.ts'
import { REMOTE_FILE } from './remote-file.ts'
import { Resets } from './reset.ts'
import { resolvePaths } from './resolve-paths.ts'

const cycle = diagnostic({
  code: 'extends/cycle',
  severity: 'error',
  explain:
    'A service extends itself, directly or through others. Move what they share into a service that extends nothing, or into an `x-` fragment.',
  text: (p: { chain: readonly string[] }) => ({
    message: `services extend each other in a cycle: ${circle(p.chain)}`,
  }),
})
const tooLong = diagnostic({
  code: 'extends/too-long',
  severity: 'error',
  explain:
    'A chain of `extends` must not be longer than 500 steps. The limit protects against files that are made to exhaust memory.',
  text: (_: Record<never, never>) => ({ message: 'the `extends` chain is longer than 500 steps' }),
})
const noService = diagnostic({
  code: 'extends/unknown-service',
  severity: 'error',
  explain:
    'The service to extend is not in the file that `extends.file` names, or in this file if `extends` names none. A service of another `-f` file can be extended only with `file`.',
  text: (p: { service: string; file: string; suggestion?: string | undefined }) => ({
    message: `the extended service \`${p.service}\` does not exist in \`${p.file}\``,
    hint: p.suggestion && `did you mean \`${p.suggestion}\`?`,
  }),
})
const remote = diagnostic({
  code: 'extends/remote-file',
  severity: 'error',
  explain:
    'devctl extends and includes local files only, not files in git repositories or registries. Check out the repository and name the local file.',
  text: (p: { path: string }) => ({
    message: `\`${p.path}\` is not a local file`,
    hint: 'check out the repository and name the local file',
  }),
})

const MAX_CHAIN = 500

/** The services of extended files, by path. Each file is read once, and its services are resolved on demand. */
export type ExtendsCache = Map<string, Services | undefined>

interface Services {
  readonly file: string
  readonly entries: Map<string, Entry>
  readonly resets: Resets
  /** Services whose `extends` is already resolved, with the number of `extends` that the resolution had to follow. */
  readonly done: Map<string, number>
}

/** The document whose services extend others. */
interface ExtendsInput {
  /** Absolute path of the file that contains the document. */
  readonly path: string
  readonly scope: ProjectScope
  readonly resets: Resets
  readonly cache: ExtendsCache
}

interface Step {
  readonly file: string
  readonly service: string
  readonly span: Span
}

/**
 * Merges every service of a document over the service that it extends
 * (https://github.com/compose-spec/compose-spec/blob/main/05-services.md#extends). Reports `extends/*`. Removes
 * `extends` from a service that cannot be resolved.
 */
export function applyExtends(model: MapTree, { path, scope, resets, cache }: ExtendsInput, state: LoadState): MapTree {
  const section = get(model, 'services')
  if (
    !isMap(section) ||
    ![...section.entries.values()].some(({ value }) => isMap(value) && value.entries.has('extends'))
  )
    return model
  const services: Services = { file: path, entries: new Map(section.entries), resets, done: new Map() }
  const run = new ExtendsRun(scope, cache, state)
  const shape = shapeAt(['services', '*', 'extends'])
  for (const [name, { value }] of section.entries) {
    const written = get(value, 'extends')
    const isSound = !written || !shape || validateAt(['services', name, 'extends'], written, shape, state.reporter)
    if (isSound && run.resolve(services, name, [])) continue
    // The extended service might have set any key, so all keys count as invalid.
    markInvalidKeys(name, ['*'], state)
    const { key, value: own } = services.entries.get(name)!
    if (isMap(own)) services.entries.set(name, { key, value: withoutKeys(own, 'extends') })
  }
  return withEntry(model, 'services', { ...section, entries: services.entries })
}

class ExtendsRun {
  readonly #scope: ProjectScope
  readonly #cache: ExtendsCache
  readonly #state: LoadState
  /** Services that could not be resolved. */
  readonly #failed = new Set<string>()

  constructor(scope: ProjectScope, cache: ExtendsCache, state: LoadState) {
    this.#scope = scope
    this.#cache = cache
    this.#state = state
  }

  /** Returns a service with its `extends` resolved. Returns undefined if that fails, and reports the error. */
  resolve(services: Services, name: string, chain: readonly Step[]): Tree | undefined {
    const service = services.entries.get(name)
    if (!service) return undefined
    const reference = isMap(service.value) ? extendsOf(service.value) : undefined
    if (!isMap(service.value) || services.done.has(name) || !reference) return service.value
    const step: Step = { file: services.file, service: name, span: reference.span }
    // A cycle or an unknown service is reported once instead of for each service in the chain.
    if (this.#failed.has(keyOf(step))) return undefined
    const resolved = this.#resolveReference(services, service, reference, step, chain)
    if (!resolved) this.#failed.add(keyOf(step))
    return resolved
  }

  #resolveReference(
    services: Services,
    service: Entry,
    reference: Reference,
    step: Step,
    chain: readonly Step[],
  ): Tree | undefined {
    const { reporter } = this.#state
    const name = step.service
    if (chain.some(before => before.file === step.file && before.service === step.service)) {
      const names = [
        ...chain.slice(chain.findIndex(before => before.file === step.file && before.service === name)),
        step,
      ]
      for (const member of names) this.#failed.add(keyOf(member))
      const { display } = this.#state.sources
      const isOneFile = names.every(member => member.file === step.file)
      reporter.report(cycle, reference.span, {
        chain: names.map(({ service, file }) => (isOneFile ? service : `${service} in ${display(file)}`)),
      })
      return undefined
    }
    if (chain.length >= MAX_CHAIN) {
      reporter.report(tooLong, reference.span, {})
      return undefined
    }
    const from = reference.file === undefined ? services : this.#load(reference.file.path, reference.file.span)
    if (!from) return undefined
    if (!from.entries.has(reference.service)) {
      if (!this.#state.invalid.has(`services.${reference.service}`))
        reporter.report(noService, reference.serviceSpan, {
          service: reference.service,
          file: this.#state.sources.display(from.file),
          suggestion: suggest(reference.service, from.entries.keys()),
        })
      return undefined
    }
    const base = this.resolve(from, reference.service, [...chain, step])
    if (!base) return undefined
    reporter.budget.spend('values', countOf(base), reference.span)
    const own = isMap(service.value) ? withoutKeys(service.value, 'extends') : service.value
    const merged = isNull(base)
      ? service.value
      : mergeAt(['services', name], services.resets.applyTo(base, ['services', name]), own, reporter)
    const steps = (from.done.get(reference.service) ?? 0) + 1
    if (steps > MAX_CHAIN) {
      reporter.report(tooLong, reference.span, {})
      return undefined
    }
    // Keys that were removed from the base because of an error are also marked as invalid here.
    const invalidKeys = this.#state.invalidKeys.get(reference.service)
    if (invalidKeys) markInvalidKeys(name, invalidKeys, this.#state)
    services.entries.set(name, { key: service.key, value: merged })
    services.done.set(name, steps)
    return merged
  }

  /**
   * Loads the services of another file, with absolute paths. Ignores the file's `include`. Returns undefined if the
   * file cannot be read, and reports the error.
   */
  #load(written: string, span: Span): Services | undefined {
    if (REMOTE_FILE.test(written)) {
      this.#state.reporter.report(remote, span, { path: written })
      return undefined
    }
    const path = absolutePath(written, { directory: this.#scope.directory, host: this.#state.host })
    if (this.#cache.has(path)) return this.#cache.get(path)
    this.#cache.set(path, undefined)
    // An extended file that cannot be read must not mark the whole load as incomplete: only the services that extend it
    // are.
    const { incomplete } = this.#state
    this.#state.incomplete = false
    const services = this.#read(path, span)
    const isRead = !this.#state.incomplete
    this.#state.incomplete = incomplete
    this.#cache.set(path, isRead ? services : undefined)
    return this.#cache.get(path)
  }

  #read(path: string, span: Span): Services | undefined {
    const documents = documentsOf(path, 'the extended file', this.#state, span)
    if (!documents) return undefined
    const { reporter } = this.#state
    const resets: Resets[] = []
    let model: MapTree | undefined
    for (const document of documents) {
      const own = readDocument(document, this.#scope.variables, this.#state)
      if (!own) continue
      const current = new Resets(document.resets, this.#state.dropped)
      resets.push(current)
      model = model ? mergeModels(current.applyTo(model), own, reporter) : own
      model = canonical(removeDuplicates(model), reporter).model
    }
    const resolved = model && resolvePaths(model, { directory: dirname(path), host: this.#state.host })
    const section = get(resolved, 'services')
    return {
      file: path,
      entries: new Map(isMap(section) ? section.entries : []),
      resets: resets.at(-1) ?? new Resets([], this.#state.dropped),
      done: new Map(),
    }
  }
}

const keyOf = ({ file, service }: Step): string => `${file}\0${service}`

interface Reference {
  readonly service: string
  readonly serviceSpan: Span
  readonly file?: { readonly path: string; readonly span: Span }
  readonly span: Span
}

/** Returns `extends` of a service; undefined if it is absent or invalid (the schema reports that). */
function extendsOf(service: MapTree): Reference | undefined {
  const written = entry(service, 'extends')?.value
  if (!written) return undefined
  if (written.kind === 'scalar')
    return typeof written.value === 'string'
      ? { service: written.value, serviceSpan: written.span, span: written.span }
      : undefined
  const name = get(written, 'service')
  const file = get(written, 'file')
  if (name?.kind !== 'scalar' || typeof name.value !== 'string') return undefined
  return {
    service: name.value,
    serviceSpan: name.span,
    span: written.span,
    ...(file?.kind === 'scalar' && typeof file.value === 'string' && { file: { path: file.value, span: file.span } }),
  }
}

const counted = new WeakMap<Tree, number>()

/** Counts the values of a tree. The count is cached, because services may share the tree. */
function countOf(tree: Tree): number {
  if (tree.kind === 'scalar') return 1
  let count = counted.get(tree)
  if (count !== undefined) return count
  const inner = tree.kind === 'seq' ? tree.items : [...tree.entries.values()].map(({ value }) => value)
  count = inner.reduce((sum, one) => sum + countOf(one), 1)
  counted.set(tree, count)
  return count
}
