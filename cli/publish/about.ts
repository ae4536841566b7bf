import type { Plan } from '../../compiler/plan/plan.ts'
import type { Manifest } from '../../constructs/manifest.ts'
import type { About } from '../../gitops/layout/readme.ts'
import { withoutCredentials } from '../../gitops/repository-url.ts'
import type { OpenProject } from '../open-project.ts'
import type { LoadingValues } from '../project-options.ts'
import { shapingOptions } from './facts.ts'
import type { PublishingValues } from './options.ts'
import { sourcesOf } from './sources.ts'

/** What the README beside the manifests says of them. */
export function aboutOf(
  { environment: { name }, requiredSecrets }: Plan,
  manifests: readonly Manifest[],
  { environment }: OpenProject,
  repository: string | undefined,
  options: Partial<PublishingValues> & LoadingValues,
): About {
  return {
    application: name,
    ...(environment && { environment: environment.key }),
    options: [
      ...(options.file ?? []).flatMap(one => ['--file', one]),
      ...shapingOptions(options).flatMap(([key, value]) => [`--${key}`, value]),
    ],
    target: targetOptions(options),
    ...(repository !== undefined && { sourceRepository: repository }),
    sources: sourcesOf(manifests),
    requiredSecrets,
  }
}

/** Where it goes to, as far as options say it. */
function targetOptions({ repository, branch, path, layout }: Partial<PublishingValues>): readonly string[] {
  const shown = repository === undefined ? undefined : withoutCredentials(repository)
  const said = { repository: shown, branch, path, layout }
  return Object.entries(said).flatMap(([key, value]) => (value === undefined ? [] : [`--${key}`, value]))
}
