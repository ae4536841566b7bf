import type { SecretPlaces } from '../../text/secret-places.ts'
import type { Span } from '../../text/source.ts'
import type { Entry, MapTree } from '../../text/tree.ts'
import type { Pair } from '../project.ts'
import type { BaseImagesOf } from './context-services.ts'

/**
 * The loaded files: merged, interpolated, checked, in canonical form, with the values that `docker
 * compose config --format json` prints (durations as Go formats them, sizes as decimal bytes in a
 * string, mappings instead of `KEY=value` lists, commands as lists, absolute paths) and the keys of
 * the dialect. Every node has a span.
 */
export interface Loaded {
  /** Compose's project name. */
  readonly name: string
  /** The position of top-level `name`, if a file has it. */
  readonly nameSpan?: Span
  /** Set if a file, an option or COMPOSE_PROJECT_NAME gives the name; else it is the folder's. */
  readonly isNamed?: true
  /** Absolute path of the project. */
  readonly directory: string
  /**
   * The Compose files that were merged, in their order: absolute paths, or `-`. Those that they include are left out.
   */
  readonly files: readonly string[]
  /** The Compose and env files that were read: absolute paths. */
  readonly sources: readonly string[]
  /**
   * Top-level keys: services (the enabled ones), networks, volumes, secrets, configs, models,
   * endpoints, x-*.
   */
  readonly tree: MapTree
  /** Set if a file, or the services of one, could not be read: what `tree` lacks may be there. */
  readonly isIncomplete?: true
  /** The documents of the files, as in `Project`. */
  readonly documents: readonly MapTree[]
  /** Services of the files that `tree` lacks: inactive, not selected, or in error. */
  readonly absentServices: ReadonlySet<string>
  /** Absent services whose images the builds of services in `tree` use, directly or indirectly. */
  readonly contextServices: ReadonlyMap<string, Entry>
  /** The images of other services that the Dockerfile of a service names. */
  readonly baseImages: BaseImagesOf
  /** Services in `tree` that lack keys in error. The rest is checked but not planned. */
  readonly incompleteServices: ReadonlySet<string>
  /** Resources in error (`volumes.data`), not to be reported as undefined. */
  readonly invalidResources: ReadonlySet<string>
  /** Resources whose `name` a file sets (in `tree` all resources have a name). */
  readonly namedResources: ReadonlySet<string>
  /** Contents of configs and secrets with `environment`, by path (`secrets.token`). */
  readonly environmentContents: ReadonlyMap<string, string>
  /** Extensions of another tool, which are not in `tree`. */
  readonly foreignKeys?: readonly Pair[]
  /** The known secret values and their positions. */
  readonly secrets: SecretPlaces
  /** The dependencies implied by links, shared namespaces and volumes_from, as `web db`. */
  readonly implicitDependencies: ReadonlySet<string>
}
