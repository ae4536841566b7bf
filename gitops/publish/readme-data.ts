import type { PublishTarget } from '../../compiler/manifest/manifest.ts'
import type { Plan } from '../../compiler/plan/plan.ts'
import type { Manifest } from '../../constructs/manifest.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { ReadmeData } from '../repository/layout/readme.ts'
import { sourcesOf } from './compile/sources.ts'
import { shapingOptions } from './facts.ts'
import type { PublishInput } from './input.ts'
import { repositoryIn } from './oci-reference.ts'

/** The content of the README beside the manifests. The paths in `options` are those of `asWritten`. */
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
    target: targetOptions(options, environment?.publish),
    renderOptions: renderOptions(options, environment?.publish),
    sources: sourcesOf(manifests),
    requiredSecrets,
  }
}

/**
 * Returns the options that name the destination, unless the manifest does. Machines write the address of one repository
 * in several ways: over HTTPS or SSH, or as a folder.
 */
function targetOptions(options: PublishInput, target: PublishTarget | undefined): readonly string[] {
  const { repository, branch, path, oci } = options
  const shown = repository === undefined ? undefined : 'ADDRESS'
  // The same folder is the same artifact, whatever the tag.
  const name = oci === undefined ? undefined : repositoryIn(oci)
  const said = { repository: shown, branch, path, oci: name, layout: ownLayout(options, target) }
  return Object.entries(said).flatMap(([key, value]) => (value === undefined ? [] : [`--${key}`, value]))
}

/**
 * `render` does as `publish` does for an environment with a repository only, and makes no overlay into a folder of its
 * own.
 */
function renderOptions(options: PublishInput, target: PublishTarget | undefined): readonly string[] {
  const layout = ownLayout(options, target)
  if ((target?.repository ?? target?.oci) && layout === undefined) return []
  return ['--layout', layout === 'single-file' ? layout : 'plain']
}

const ownLayout = ({ layout }: PublishInput, target: PublishTarget | undefined) =>
  layout === target?.layout ? undefined : layout
