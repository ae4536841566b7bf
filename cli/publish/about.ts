import type { Plan } from '../../compiler/plan/plan.ts'
import type { Manifest } from '../../constructs/manifest.ts'
import type { About } from '../../gitops/layout/readme.ts'
import type { OpenProject } from '../open-project.ts'
import type { LoadingValues } from '../project-options.ts'
import { shapingOptions } from './facts.ts'
import type { PublishingValues } from './options.ts'
import { sourcesOf } from './sources.ts'

/** What the README beside the manifests says of them. `options` are those with which the same is made again. */
export function aboutOf(
  { environment: { name }, requiredSecrets }: Plan,
  manifests: readonly Manifest[],
  { environment }: OpenProject,
  repository: string | undefined,
  options: readonly string[],
): About {
  return {
    application: name,
    ...(environment && { environment: environment.key }),
    options,
    ...(repository !== undefined && { sourceRepository: repository }),
    sources: sourcesOf(manifests),
    requiredSecrets,
  }
}

/** The options with which the same is made again, as words: those that shape it, and where it goes to where no manifest says so. */
export function readmeOptions(options: Partial<PublishingValues> & LoadingValues): readonly string[] {
  const { file, repository, branch, path, layout } = options
  const target = Object.entries({ repository, branch, path, layout }).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  )
  const words = [...shapingOptions(options), ...target].flatMap(([key, value]) => [`--${key}`, value])
  return [...(file ?? []).flatMap(one => ['--file', one]), ...words]
}
