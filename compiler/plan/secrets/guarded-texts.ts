import type { Hook, Pair, Service, Words } from '../../compose/project.ts'
import type { Span } from '../../text/source.ts'
import { get, isMap, isScalar, isSeq, type Tree } from '../../text/tree.ts'
import type { PlanContext } from '../context.ts'
import { variablePath } from './secret-sources.ts'

/** A text of the files that ends up in the manifests and could contain a secret. */
export interface GuardedText {
  /** Path of the text in a manifest, such as `services.db.environment.POSTGRES_PASSWORD` or `configs.site`. */
  readonly path: string
  readonly text: string
  readonly span: Span
  /** The full node that contains the text in the source; absent if the text is in another file. */
  readonly written?: Span
  /** Name of the variable or label. */
  readonly name?: string
  /** The service variable whose value is the text, so that the value can come from a Secret instead. */
  readonly variable?: { readonly service: string; readonly name: string }
}

/** Yields every text that the plan copies from the files unchanged. Call it after the mounts are planned. */
export function* guardedTexts({ project, options, objects }: PlanContext): Generator<GuardedText> {
  for (const service of project.services.values()) yield* textsOfService(service)
  yield* textsOfFields('x-kubernetes', get(project.tree, 'x-kubernetes'))
  for (const { name, path = name, span, data } of objects.configMaps.values()) {
    const key = path.startsWith('configs.') ? path.slice('configs.'.length) : undefined
    const written = key === undefined ? undefined : get(project.tree, 'configs', key, 'content')?.span
    for (const bytes of Object.values(data))
      if (span) yield { path, text: new TextDecoder().decode(bytes), span, ...(written && { written }) }
  }
  for (const section of ['volumes', 'configs', 'secrets'] as const)
    for (const { key, labels } of project[section].values()) yield* labelsAt(`${section}.${key}.labels`, labels)
  yield* labelsAt('endpoints.labels', project.endpoints?.labels ?? [])
  for (const { name, labels = [] } of project.endpoints?.endpoints ?? [])
    yield* labelsAt(`endpoints.${name?.value}.labels`, labels)
  yield* labelsAt('routeAnnotations', options.routeAnnotations ?? [])
}

/** Yields the variables of a service that have a literal value. */
export function* guardedVariables(service: Service): Generator<GuardedText> {
  for (const { name, value, span } of service.environment) {
    const variable = { service: service.name, name }
    yield { path: variablePath(service.name, name), text: value, span, written: span, name, variable }
  }
}

function* textsOfService(service: Service): Generator<GuardedText> {
  const at = `services.${service.name}`
  yield* guardedVariables(service)
  yield* labelsAt(`${at}.labels`, service.labels)
  yield* labelsAt(`${at}.annotations`, service.annotations)
  yield* labelsAt(`${at}.deploy.labels`, service.deploy.labels)
  for (const { expose } of service.ports) yield* labelsAt(`${at}.ports`, expose?.annotations ?? [])
  yield* textsOfFields(`${at}.x-kubernetes`, get(service.tree, 'x-kubernetes'))
  for (const key of ['entrypoint', 'command'] as const) {
    const words = service[key]
    if (words) yield { path: `${at}.${key}`, ...textOf(words) }
  }
  const check = service.healthcheck?.check
  const path = `${at}.healthcheck`
  if (check?.kind === 'exec') yield { path, text: check.command.join(' '), span: check.span, written: check.span }
  if (check?.kind === 'shell') yield { path, text: check.script, span: check.span, written: check.span }
  if (check?.kind === 'http') yield { path, text: check.path, span: check.span, written: check.span }
  yield* textsOfHooks(`${at}.pre_start`, service.preStart)
  yield* textsOfHooks(`${at}.post_start`, service.postStart)
  yield* textsOfHooks(`${at}.pre_stop`, service.preStop)
}

/** Matches the paths of mappings whose keys the user chooses. Such a key describes its value. */
const NAMED = /\.(annotations|labels|data)$/

/** Yields the texts of Kubernetes fields. A field's name, such as `secretName`, says nothing about its value. */
function* textsOfFields(path: string, tree: Tree | undefined): Generator<GuardedText> {
  if (isScalar(tree) && typeof tree.value === 'string')
    yield { path, text: tree.value, span: tree.span, written: tree.span }
  if (isMap(tree))
    for (const [key, { value }] of tree.entries)
      for (const found of textsOfFields(`${path}.${key}`, value))
        yield NAMED.test(path) ? { ...found, name: key.split(/[./]/).at(-1)! } : found
  if (isSeq(tree))
    for (const [index, item] of tree.items.entries())
      yield* textsOfFields(isScalar(item) ? path : `${path}.${index}`, item)
}

function* textsOfHooks(at: string, hooks: readonly Hook[]): Generator<GuardedText> {
  for (const [index, { command, entrypoint, environment }] of hooks.entries()) {
    for (const { name, value, span } of environment)
      yield { path: `${at}.${index}.environment.${name}`, text: value, span, written: span, name }
    if (entrypoint) yield { path: `${at}.${index}.entrypoint`, ...textOf(entrypoint) }
    if (command) yield { path: `${at}.${index}.command`, ...textOf(command) }
  }
}

/**
 * Yields the texts of labels. The last part of a label's name describes the value, as in `homepage.widget.password`.
 */
function* labelsAt(at: string, labels: readonly Pair[]): Generator<GuardedText> {
  for (const { name, value, span } of labels)
    yield { path: `${at}.${name}`, text: value, span, written: span, name: name.split(/[./]/).at(-1)! }
}

const textOf = ({ words, span }: Words) => ({ text: words.join(' '), span, written: span })
