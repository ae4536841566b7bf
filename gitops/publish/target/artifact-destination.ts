import { UsageError } from '../../../compiler/diagnostics/user-error.ts'
import type { OpenProject } from '../../../project/opened-project.ts'
import type { PublishInput } from '../input.ts'
import { parseReference } from '../oci-reference.ts'

/** Tag in a registry's repository that an application is published to. */
export interface ArtifactDestination {
  /** Name of the repository, including the registry. */
  readonly name: string
  readonly tag: string
  /** Reference in the form `NAME:TAG`. */
  readonly reference: string
  readonly layout: 'plain' | 'single-file'
}

/** Input that applies only to git repositories, with the corresponding command-line options. */
const OF_REPOSITORIES = {
  repository: '--repository',
  branch: '--branch',
  path: '--path',
  pullRequest: '--pull-request',
  forge: '--forge',
} as const satisfies Partial<Record<keyof PublishInput, string>>

/**
 * Returns the destination of an artifact: from the option `oci` or, unless the option `repository` is set, from the
 * environment. Returns undefined if the application is published to a git repository. Throws a UsageError for options
 * that cannot be combined, and for a layout with more than one folder.
 */
export function artifactDestination(
  options: PublishInput,
  { environment }: Pick<OpenProject, 'environment'>,
): ArtifactDestination | undefined {
  const { publish } = environment ?? {}
  const oci = options.oci ?? (options.repository === undefined ? publish?.oci?.value : undefined)
  if (oci === undefined) return undefined
  const wrong = Object.entries(OF_REPOSITORIES).find(([key]) => options[key as keyof typeof OF_REPOSITORIES])
  if (wrong)
    throw new UsageError(`\`${wrong[1]}\` cannot be combined with ${nameOf(options)}`, {
      hint: 'it is about git repositories; a registry keeps the folder behind a tag, `REGISTRY/PATH:TAG`',
    })
  const layout = options.layout ?? publish?.layout ?? 'plain'
  if (layout === 'kustomize')
    throw new UsageError(`overlays do not go with ${nameOf(options)}: their bases are in another folder`, {
      hint: 'add `--layout plain`',
    })
  return { ...parseReference(oci, environment?.key), layout }
}

const nameOf = ({ oci }: PublishInput) => (oci === undefined ? '`oci` of the environment' : '`--oci`')
