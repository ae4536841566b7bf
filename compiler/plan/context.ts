import { basename, isAbsolute, relative } from 'node:path/posix'
import type { Project } from '../compose/project.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { CompilerHost } from '../host.ts'
import type { PlanOptions } from '../options.ts'
import type { Span } from '../text/source.ts'
import { get, type MapTree } from '../text/tree.ts'
import { KUBECTL_IMAGE, SHELL_IMAGE } from '../values/images/helper-images.ts'
import { isStream } from '../values/stream-path.ts'
import type { Names } from './names.ts'
import type { ClaimPlan, ConfigMapPlan, Environment, SecretPlan } from './plan.ts'

/** The input of every planning step, and the objects that the steps have created so far. */
export interface PlanContext {
  readonly project: Project
  readonly options: PlanOptions
  readonly host: CompilerHost
  readonly reporter: Reporter
  readonly environment: Environment
  readonly names: Names
  /** Services that other services wait for with `service_healthy`. */
  readonly healthAwaited: ReadonlySet<string>
  /** Objects by name, so that an object that two services need is created only once. */
  readonly objects: {
    readonly configMaps: Map<string, ConfigMapPlan>
    readonly secrets: Map<string, SecretPlan>
    readonly claims: Map<string, ClaimPlan>
    /** Positions of the external volumes, by the name of their claim. */
    readonly externalClaims: Map<string, Span>
  }
  /**
   * Paths of the texts that were moved into Secrets because of `options.valuesApart`, in the notation of the manifest.
   */
  readonly valuesApart: Set<string>
}

/** Returns the small shell image for containers that wait or that copy files into volumes. */
export const shellImage = ({ options }: Pick<PlanContext, 'options'>): string => options.shellImage ?? SHELL_IMAGE

/** Returns the image of the containers that wait for Jobs. */
export const kubectlImage = ({ options }: Pick<PlanContext, 'options'>): string => options.kubectlImage ?? KUBECTL_IMAGE

/**
 * Returns a reference such as `compose.yaml#services.web.ports`: a file, relative to the project directory, and a path
 * of keys in the file. Uses the file of `span` if it has these keys, otherwise the last merged file that has them.
 * Drops keys at the end of the path that no file has. Such keys are implied, or the service gets them from a service in
 * another file with `extends`. If the service is a job, the path begins with `jobs` instead of `services`.
 */
export function sourceOf({ project }: Pick<PlanContext, 'project'>, span: Span, given: readonly string[]): string {
  const { directory, documents, services } = project
  const [section, name = ''] = given
  const keys = section === 'services' && services.get(name)?.triggers ? ['jobs', ...given.slice(1)] : given
  const own = documents.filter(({ span: { file } }) => file === span.file)
  // The manifest is not one of the documents.
  for (let count = own.length > 0 ? keys.length : 0; count > 0; count--) {
    const path = keys.slice(0, count)
    const has = (document: MapTree) => get(document, ...path) !== undefined
    const found = own.find(has) ?? documents.findLast(has)
    if (found) return `${fileFrom(directory, found.span.file.location)}#${path.join('.')}`
  }
  return `${fileFrom(directory, span.file.location)}#${keys.join('.')}`
}

/**
 * Returns a file's path relative to the project directory, or its base name if the file is outside. The paths used in
 * messages are not suitable, because they depend on the folder that devctl runs in.
 */
function fileFrom(directory: string, location: string): string {
  if (isStream(location)) return 'standard input'
  if (!isAbsolute(location)) return basename(location)
  const inside = relative(directory, location)
  return inside.startsWith('../') ? basename(location) : inside
}

/** Sorts by a text, in the order of its code units, which is the same in every locale. */
export function sortBy<T>(values: Iterable<T>, key: (value: T) => string): T[] {
  return [...values].sort((a, b) => compareText(key(a), key(b)))
}

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Returns the span of `text` inside `span` if the source contains `text` unchanged; otherwise returns `span`. */
export function narrow(span: Span, text: string): Span {
  const at = span.file.text.slice(span.start, span.end).indexOf(text)
  return at < 0 || text === '' ? span : { file: span.file, start: span.start + at, end: span.start + at + text.length }
}

/** Converts a duration to whole seconds, rounded up. */
export const seconds = (duration: { readonly milliseconds: number }): number => Math.ceil(duration.milliseconds / 1000)
