import type { Build } from '../../compiler/compose/project.ts'

/** An image to build, and what it is called. */
export interface PlannedBuild {
  /** As the Compose file names it. */
  readonly service: string
  readonly build: Build
  /** The image in the manifests: with the tag of its content, unless the file names it. */
  readonly reference: string
  /** True if the tag is the hash of what the image is built from. */
  readonly hasContentTag: boolean
  /** Services whose images it needs. */
  readonly dependsOn: readonly string[]
}
