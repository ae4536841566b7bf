import type { SshKey } from '../../compiler/compose/project.ts'
import type { Reporter } from '../../compiler/diagnostics/reporter.ts'
import type { At, Span } from '../../compiler/text/source.ts'
import type { BuildSpec } from '../../compiler/values/images/build-spec.ts'
import type { HiddenValues } from './hidden-values.ts'

/** An image to build, and its names. */
export interface PlannedBuild {
  /** Name of the service in the Compose file, of an image in the manifest, or of a standalone Dockerfile. */
  readonly service: string
  /** Position of the service's `build`; undefined for a standalone Dockerfile. */
  readonly span: Span | undefined
  /** Dockerfile that is inlined in the Compose file (`dockerfile_inline`). */
  readonly inline?: At<string>
  /** The service's `target`, if a file sets one. */
  readonly target?: At<string>
  /** Entries of the service's `ssh`. */
  readonly ssh?: readonly SshKey[]
  /**
   * Reference of the image in the manifests. Ends in the content tag, unless the file or an option sets the name or the
   * tag. Empty if the image has no name.
   */
  readonly reference: string
  /** Name that only an image of this content has; often equal to `reference`. Undefined if the content is unknown. */
  readonly contentReference?: string | undefined
  /**
   * True if the image is rebuilt each time, because the file requires it or because its context is an address whose
   * content may change. `contentReference` does not identify the content of such an image.
   */
  readonly isMoving?: boolean
  /** Values that the content tag omits. Never printed. */
  readonly hidden?: HiddenValues
  /** Additional names of the image. */
  readonly tags: readonly string[]
  /** Services whose images this image is based on. */
  readonly dependsOn: readonly string[]
  /**
   * Returns the spec of the build; `images` are the images that were built before, with their digests. Reports values
   * that only a build needs and that are unknown on this machine, such as secrets. Does not report secrets whose ids
   * are in `given`.
   */
  readonly specOf: (reporter: Reporter, images: ReadonlyMap<string, string>, given: ReadonlySet<string>) => BuildSpec
}

/** Returns all names that a build pushes. */
export const namesOf = ({ reference, contentReference = '', tags }: PlannedBuild): readonly string[] =>
  [...new Set([reference, contentReference, ...tags])].filter(name => name !== '')

/** Returns the builds called `names` and all builds that they need, in the order of `all`. */
export function withNeeded<Build extends Pick<PlannedBuild, 'service' | 'dependsOn'>>(
  names: Iterable<string>,
  all: readonly Build[],
): readonly Build[] {
  const wanted = new Set<string>()
  const add = (name: string) => {
    if (wanted.has(name)) return
    wanted.add(name)
    all.find(({ service }) => service === name)?.dependsOn.forEach(add)
  }
  for (const name of names) add(name)
  return all.filter(({ service }) => wanted.has(service))
}

/**
 * Returns the builds, with `isMoving` set for those that are based, directly or indirectly, on an image that is rebuilt
 * each time.
 */
export function withMoving(builds: readonly PlannedBuild[]): readonly PlannedBuild[] {
  const moving = new Set(builds.flatMap(({ service, isMoving }) => (isMoving ? [service] : [])))
  if (moving.size === 0) return builds
  const users = new Map<string, string[]>()
  for (const { service, dependsOn } of builds)
    for (const used of dependsOn) users.set(used, [...(users.get(used) ?? []), service])
  // Iterating over a set includes elements that are added meanwhile.
  for (const used of moving) for (const service of users.get(used) ?? []) moving.add(service)
  return builds.map(build => (moving.has(build.service) ? { ...build, isMoving: true } : build))
}
