import type { GitOptions } from '../../adapters/git/git.ts'
import { toHttps } from '../../adapters/git/git-facts.ts'
import { plainAddress } from '../../project/deploy-source.ts'
import type { LoadInput, PlanInput } from '../../project/input.ts'
import type { Facts } from '../../project/lock.ts'
import { sourceRepository } from '../../project/names/environment-name.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import { version } from '../../project/version.ts'
import { readSource, type SourceCommit } from '../repository/source.ts'
import { type CompiledForRepository, inputsFrom } from './compile/compile-for-repository.ts'

/** Source of an application. */
export interface Origin {
  /** Source commit; undefined outside a repository. */
  readonly commit: SourceCommit | undefined
  /** Address of the source repository, without credentials; undefined if it has no remote. */
  readonly repository: string | undefined
  /** Web page of the source repository, if it can be derived from the address. */
  readonly page: string | undefined
  /** Top folder of the source repository; outside a repository, the project folder. */
  readonly top: string
}

/** Returns the repository and the commit that a project comes from, as git reports them. */
export async function originOf({ directory, paths }: CompiledForRepository, git: GitOptions): Promise<Origin> {
  const repository = sourceRepository(directory)
  return {
    commit: repository && (await readSource(directory, repository.top, [...paths], git)),
    repository: repository?.address === undefined ? undefined : plainAddress(repository.address),
    page: repository?.address === undefined ? undefined : toHttps(repository.address),
    top: repository?.top ?? directory,
  }
}

/** Returns the facts about a rendering for the lock file. */
export function factsOf(
  { plan, manifests, inputs }: CompiledForRepository,
  { environment }: OpenProject,
  { commit, repository, top }: Origin,
  options: readonly (readonly [string, string])[],
): Facts {
  const { namespace } = plan.environment
  return {
    ...(environment && { environment: environment.key }),
    ...(namespace !== undefined && { namespace }),
    source: {
      ...(repository !== undefined && { repository }),
      ...(commit && { path: commit.path, commit: commit.commit, ...(commit.isDirty && { isDirty: true }) }),
    },
    tool: `devctl ${version()}`,
    inputs: inputsFrom(top, inputs),
    images: Object.fromEntries(plan.images),
    options: Object.fromEntries(options.map(([key]) => [key, valuesOf(key, options)])),
    objects: manifests.map(({ object }) => `${object.kind.toLowerCase()}/${object.metadata.name}`).sort(),
  }
}

const valuesOf = (key: string, options: readonly (readonly [string, string])[]): string =>
  options.flatMap(([one, value]) => (one === key ? [value] : [])).join(', ')

/**
 * Returns the options that affect the rendered files, as pairs of name and value, with one pair for each value. Image
 * options are not included, because each release has different images.
 */
export function shapingOptions(options: LoadInput & PlanInput): readonly (readonly [string, string])[] {
  const { startOrder } = options
  const said = {
    'project-directory': options.projectDirectory,
    'env-file': options.envFile,
    profile: options.profile,
    environment: options.environment,
    name: options.name,
    namespace: options.namespace,
    domain: options.domain,
    routes: options.routes,
    gateway: options.gateway,
    'ingress-class': options.ingressClass,
    'tls-secret': options.tlsSecret,
    policy: options.policy,
    registry: options.registry,
    'start-order': startOrder === 'manifest' ? undefined : startOrder,
  }
  return Object.entries(said).flatMap(([key, values]) =>
    (values === undefined ? [] : [values].flat()).map(value => [key, value] as const),
  )
}
