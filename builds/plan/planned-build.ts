import type { SshKey } from '../../compiler/compose/project.ts'
import type { Reporter } from '../../compiler/diagnostics/reporter.ts'
import type { At, Span } from '../../compiler/text/source.ts'
import type { BuildSpec } from '../../compiler/values/images/build-spec.ts'
import type { HiddenValues } from './hidden-values.ts'

/** An image to build, and what it is called. */
export interface PlannedBuild {
  /**
   * The service, as the Compose file names it; an image of the manifest; the name of the file for a Dockerfile alone.
   */
  readonly service: string
  /** Position of its `build`; undefined for a standalone Dockerfile. */
  readonly span: Span | undefined
  /** The Dockerfile in the Compose file (`dockerfile_inline`). */
  readonly inline?: At<string>
  /** Its `target`, where a file has one. */
  readonly target?: At<string>
  /** The entries of its `ssh`. */
  readonly ssh?: readonly SshKey[]
  /**
   * The image in the manifests: with the tag of its content, unless the file or an option names it. Empty: it has no
   * name.
   */
  readonly reference: string
  /**
   * The name that only an image of this content has; often `reference`. Undefined: its content is
   * not known here.
   */
  readonly contentReference?: string | undefined
  /**
   * True if it is built each time: from an address whose content may change, so `contentReference`
   * does not say what is in it, or since the file says so.
   */
  readonly isMoving?: boolean
  /** Values that the tag of its content leaves out. Never printed. */
  readonly hidden?: HiddenValues
  /** Further names of the image. */
  readonly tags: readonly string[]
  /** The services whose images it is built on. */
  readonly dependsOn: readonly string[]
  /**
   * The spec of the build; `images` are those that were built before, with their digests. Reports
   * values that are unknown here and that only a build needs: secrets, except those with ids in
   * `given`.
   */
  readonly specOf: (reporter: Reporter, images: ReadonlyMap<string, string>, given: ReadonlySet<string>) => BuildSpec
}

/** All names that a build pushes. */
export const namesOf = ({ reference, contentReference = '', tags }: PlannedBuild): readonly string[] =>
  [...new Set([reference, contentReference, ...tags])].filter(name => name !== '')

/** Returns these builds and the builds that they need, in the order of `all`. */
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

/** Marks the builds whose base image is rebuilt each time. */
export function withMoving(builds: readonly PlannedBuild[]): readonly PlannedBuild[] {
  const moving = new Set(builds.flatMap(({ service, isMoving }) => (isMoving ? [service] : [])))
  if (moving.size === 0) return builds
  const users = new Map<string, string[]>()
  for (const { service, dependsOn } of builds)
    for (const used of dependsOn) users.set(used, [...(users.get(used) ?? []), service])
  // A set also gives what is added to it meanwhile.
  for (const used of moving) for (const service of users.get(used) ?? []) moving.add(service)
  return builds.map(build => (moving.has(build.service) ? { ...build, isMoving: true } : build))
}
