import { basename, isAbsolute, relative } from 'node:path/posix'
import type { Project } from '../compose/project.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { CompilerHost } from '../host.ts'
import type { PlanOptions } from '../options.ts'
import type { Span } from '../text/source.ts'
import { get, type MapTree } from '../text/tree.ts'
import { isStream } from '../values/stream-path.ts'
import type { Names } from './names.ts'
import type { ClaimPlan, ConfigMapPlan, Environment, SecretPlan } from './plan.ts'

/** The input of every planning step, and the objects that the steps find to be needed. */
export interface PlanContext {
  readonly project: Project
  readonly options: PlanOptions
  readonly host: CompilerHost
  readonly reporter: Reporter
  readonly environment: Environment
  readonly names: Names
  /** The services that others wait for with `service_healthy`. */
  readonly healthAwaited: ReadonlySet<string>
  /** Objects by name, so that an object that two services need is created once. */
  readonly objects: {
    readonly configMaps: Map<string, ConfigMapPlan>
    readonly secrets: Map<string, SecretPlan>
    readonly claims: Map<string, ClaimPlan>
  }
  /** The paths, in a manifest, of texts that have gone into Secrets because of `options.valuesApart`. */
  readonly valuesApart: Set<string>
}

/** The small shell image of the waits and of copy-up. */
export const shellImage = ({ options }: Pick<PlanContext, 'options'>): string => options.shellImage ?? 'busybox:1.37'

/** The image that waits for Jobs. */
export const kubectlImage = ({ options }: Pick<PlanContext, 'options'>): string =>
  options.kubectlImage ?? 'registry.k8s.io/kubectl:v1.34.2'

/**
 * `compose.yaml#services.web.ports`: a file, relative to the project directory, and a path of keys in it. The file is
 * that of `span`, if it has these keys, else the last one of the merge that has. Keys that no file has at this path,
 * because a service extends that of another file or has them implied, are left out.
 */
export function sourceOf({ project }: Pick<PlanContext, 'project'>, span: Span, keys: readonly string[]): string {
  const { directory, documents } = project
  const own = documents.filter(({ span: { file } }) => file === span.file)
  // The manifest is none of them.
  for (let count = own.length > 0 ? keys.length : 0; count > 0; count--) {
    const path = keys.slice(0, count)
    const has = (document: MapTree) => get(document, ...path) !== undefined
    const found = own.find(has) ?? documents.findLast(has)
    if (found) return `${fileFrom(directory, found.span.file.location)}#${path.join('.')}`
  }
  return `${fileFrom(directory, span.file.location)}#${keys.join('.')}`
}

/**
 * A file's path as seen from the project directory; its base name when it is outside. The paths for messages do not
 * count: they depend on the folder that devctl runs in.
 */
function fileFrom(directory: string, location: string): string {
  if (isStream(location)) return 'standard input'
  if (!isAbsolute(location)) return basename(location)
  const inside = relative(directory, location)
  return inside.startsWith('../') ? basename(location) : inside
}

/** Sorts by a text in the order of code units, which is the same in every locale. */
export function sortBy<T>(values: Iterable<T>, key: (value: T) => string): T[] {
  return [...values].sort((a, b) => compareText(key(a), key(b)))
}

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Returns the position of `text` inside a span if it is written there unchanged; else the span. */
export function narrow(span: Span, text: string): Span {
  const at = span.file.text.slice(span.start, span.end).indexOf(text)
  return at < 0 || text === '' ? span : { file: span.file, start: span.start + at, end: span.start + at + text.length }
}

/** Whole seconds, rounded up. */
export const seconds = (duration: { readonly milliseconds: number }): number => Math.ceil(duration.milliseconds / 1000)
