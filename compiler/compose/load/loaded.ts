import type { SecretPlaces } from '../../text/secret-places.ts'
import type { Span } from '../../text/source.ts'
import type { MapTree } from '../../text/tree.ts'
import type { Pair } from '../project.ts'

/**
 * The loaded files: merged, interpolated, checked, in canonical form, with the values that `docker compose config --format json` prints
 * (durations as Go writes them, sizes as decimal bytes in a string, maps instead of `KEY=value` lists, commands as lists of words, absolute paths),
 * and with the dialect's own keys beside them. Every node has its place.
 */
export interface Loaded {
  /** Compose's project name. */
  readonly name: string
  /** The value of top-level `name`, where a file has one. */
  readonly nameSpan?: Span
  /** Set where a file, an option or COMPOSE_PROJECT_NAME gives the name; else it is the folder's. */
  readonly isNamed?: true
  /** Absolute. */
  readonly directory: string
  /** Top-level keys: services (the enabled ones), networks, volumes, secrets, configs, models, endpoints, x-*. */
  readonly tree: MapTree
  /** Known services that are not in `tree`: left out by a profile or a selection, or in error. */
  readonly absentServices: ReadonlySet<string>
  /** Services in `tree` without their keys in error: what is left of them is checked, and goes no further. */
  readonly damagedServices: ReadonlySet<string>
  /** Resources in error, as `volumes.data`: known, and not to be reported as missing. */
  readonly brokenResources: ReadonlySet<string>
  /** Volumes, networks, secrets and configs whose `name` is written in a file (the tree gives every one a name). */
  readonly namedResources: ReadonlySet<string>
  /** Values of `environment` of configs and secrets, by `secrets.token`. */
  readonly environmentContents: ReadonlyMap<string, string>
  /** Extensions that mean something to another tool, which `tree` does not have. */
  readonly foreignKeys?: readonly Pair[]
  /** What is secret because of where it comes from, and where it stands. */
  readonly secrets: SecretPlaces
  /** The dependencies that links, shared namespaces and volumes_from add, as `web db`. */
  readonly implicitDependencies: ReadonlySet<string>
}
