import type { Path } from '../../text/path.ts'
import type { SecretPlaces } from '../../text/secret-places.ts'
import type { Span } from '../../text/source.ts'
import type { Entry, MapTree, Tree } from '../../text/tree.ts'
import type { Pair } from '../project.ts'
import type { BaseImagesOf } from './context-services.ts'

/**
 * The loaded files: merged, interpolated, checked, and in canonical form. Has the values that `docker compose config
 * --format json` prints (durations in Go's format, sizes as decimal bytes in a string, mappings instead of `KEY=value`
 * lists, commands as lists, absolute paths) and the keys of the dialect. Every node has a span.
 */
export interface Loaded {
  /** Compose's project name. */
  readonly name: string
  /** The position of top-level `name`, if a file has it. */
  readonly nameSpan?: Span
  /** Set if a file, an option or COMPOSE_PROJECT_NAME sets the name. Otherwise the name is derived from the folder. */
  readonly isNamed?: true
  /** Absolute path of the project folder. */
  readonly directory: string
  /**
   * The merged Compose files, in merge order: absolute paths, or `-` for standard input. Files that they include are
   * left out.
   */
  readonly files: readonly string[]
  /** Absolute paths of all Compose and env files that were read. */
  readonly sources: readonly string[]
  /** Absolute paths of the env files in `sources` whose variables are used for `${NAME}` in the Compose files. */
  readonly variableFiles: readonly string[]
  /** Top-level keys: services (only the enabled ones), networks, volumes, secrets, configs, models, endpoints, x-*. */
  readonly tree: MapTree
  /** Set if a file, or the services of a file, could not be read. Definitions that `tree` lacks may be in that file. */
  readonly isIncomplete?: true
  /** The documents of the files, as in `Project.documents`. */
  readonly documents: readonly MapTree[]
  /** Services in the files that `tree` lacks because they are inactive, not selected, or in error. */
  readonly absentServices: ReadonlySet<string>
  /** Values that `!reset` and `!override` have removed from the merged earlier files. */
  readonly dropped: readonly DroppedValue[]
  /** Absent services whose images the builds of services in `tree` use, directly or indirectly. */
  readonly contextServices: ReadonlyMap<string, Entry>
  /** Returns the images of other services that the Dockerfile of a service names. */
  readonly baseImages: BaseImagesOf
  /**
   * Keys in error, by service. `tree` contains these services without the keys in error. The other keys of the services
   * are checked, but nothing is planned.
   */
  readonly incompleteServices: ReadonlyMap<string, ReadonlySet<string>>
  /** Resources in error (`volumes.data`). They must not be reported as undefined. */
  readonly invalidResources: ReadonlySet<string>
  /** Resources whose `name` a file sets. In `tree`, all resources have a name. */
  readonly namedResources: ReadonlySet<string>
  /** Contents of configs and secrets that have `environment`, by path (`secrets.token`). */
  readonly environmentContents: ReadonlyMap<string, string>
  /** Extension keys (`x-…`) that belong to another tool. They are not in `tree`. */
  readonly foreignKeys?: readonly Pair[]
  /** The known secret values and their positions. */
  readonly secrets: SecretPlaces
  /** The dependencies implied by links, shared namespaces and volumes_from, in the form `web db`. */
  readonly implicitDependencies: ReadonlySet<string>
}

/** A value of an earlier file that a tag has removed. */
export interface DroppedValue {
  /** Path in the model. */
  readonly path: Path
  /** Position of the key of the removed value; absent for an item of a list. */
  readonly key?: Span
  readonly tree: Tree
  /** Position of the tag. */
  readonly tag: Span
}
