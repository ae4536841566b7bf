import type { ManifestEnvironment, PublishTarget } from '../../compiler/manifest/manifest.ts'
import type { Plan } from '../../compiler/plan/plan.ts'
import type { Manifest } from '../../constructs/manifest.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { ReadmeData } from '../repository/layout/readme.ts'
import { sourcesOf } from './compile/sources.ts'
import { shapingOptions } from './facts.ts'
import type { PublishInput } from './input.ts'
import { repositoryIn } from './oci-reference.ts'
import { environmentFolder } from './target/destination.ts'

/** Returns the content of the README beside the manifests. The paths in `options` are written as by `asWritten`. */
export function readmeData(
  { environment: { name }, requiredSecrets }: Plan,
  manifests: readonly Manifest[],
  { environment }: OpenProject,
  options: PublishInput,
): ReadmeData {
  return {
    application: name,
    ...(environment && { environment: environment.key }),
    options: [
      ...(options.file ?? []).flatMap(one => ['--file', one]),
      ...shapingOptions(options).flatMap(([key, value]) => [`--${key}`, value]),
    ],
    target: targetOptions(options, environment, name),
    renderOptions: renderOptions(options, environment?.publish),
    sources: sourcesOf(manifests),
    requiredSecrets,
  }
}

/**
 * Returns the options that name the destination, unless the manifest names it. Shows `ADDRESS` for the repository,
 * because different machines write the address of a repository differently: over HTTPS or SSH, or as a folder.
 */
function targetOptions(
  options: PublishInput,
  environment: ManifestEnvironment | undefined,
  application: string,
): readonly string[] {
  const { repository, branch, path, oci } = options
  const target = environment?.publish
  const said = {
    repository: repository === undefined || target?.repository ? undefined : 'ADDRESS',
    branch: unlessEqual(branch, target?.branch?.value),
    path: unlessEqual(path?.replace(/\/$/, ''), environmentFolder(environment, application)?.replace(/\/$/, '')),
    // A folder produces the same artifact, whatever the tag.
    oci: oci === undefined || target?.oci ? undefined : repositoryIn(oci),
    layout: ownLayout(options, target),
  }
  return Object.entries(said).flatMap(([key, value]) => (value === undefined ? [] : [`--${key}`, value]))
}

/**
 * Returns the additional options for `render`. Like `publish`, `render` uses the environment's layout, but only if the
 * environment names a repository or an artifact. Because `render` cannot write an overlay into a single folder, an
 * overlay becomes `plain`.
 */
function renderOptions(options: PublishInput, target: PublishTarget | undefined): readonly string[] {
  const layout = ownLayout(options, target)
  if ((target?.repository ?? target?.oci) && layout === undefined) return []
  return ['--layout', layout === 'single-file' ? layout : 'plain']
}

const ownLayout = ({ layout }: PublishInput, target: PublishTarget | undefined) => unlessEqual(layout, target?.layout)

const unlessEqual = <Value>(value: Value, other: Value | undefined) => (value === other ? undefined : value)
