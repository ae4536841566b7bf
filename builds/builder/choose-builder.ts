import type { PlatformBuilders } from '../../platform/session/builder.ts'
import { isPlatform, type StoredContext } from '../../project/contexts/store.ts'
import type { Workspace } from '../../project/workspace.ts'
import { findBuildTarget } from './build-target.ts'

/** The builder that the user has chosen. */
export interface ChosenBuilder {
  /** Builders of a platform; tried before `address`. */
  readonly platform?: PlatformBuilders
  /** Address of a BuildKit daemon (`tcp://HOST:PORT`, `unix://PATH`), or `docker` for the local engine. */
  readonly address: string
  /** Origin of the builder, as a phrase that follows "which is" in messages: ``that of `BUILDKIT_HOST` ``. */
  readonly from: string
}

/** Address of the Docker Engine that the user's `docker` would use. */
export const LOCAL_ENGINE = 'docker'

/**
 * Chooses the builder: the address in BUILDKIT_HOST, else the builder of the context, else the builders of the platform
 * if the context is a platform, else the local engine.
 */
export function chooseBuilder(
  { env }: Pick<Workspace, 'env'>,
  context: Pick<StoredContext, 'name' | 'builder' | 'token'> | undefined,
  namespace?: string,
): ChosenBuilder {
  if (env.BUILDKIT_HOST) return { address: env.BUILDKIT_HOST, from: 'that of `BUILDKIT_HOST`' }
  if (context?.builder) return { address: context.builder, from: `that of the context \`${context.name}\`` }
  if (context && isPlatform(context.name) && context.token && namespace !== undefined) {
    const { name: url, token } = context
    return { ...localEngine(env), platform: { url, token, namespace } }
  }
  return localEngine(env)
}

function localEngine(env: Workspace['env']): ChosenBuilder {
  for (const variable of ['DOCKER_HOST', 'DOCKER_CONTEXT'])
    if (env[variable]) return { address: LOCAL_ENGINE, from: `the Docker Engine of \`${variable}\`` }
  return { address: LOCAL_ENGINE, from: 'the local engine: neither `BUILDKIT_HOST` nor the context names another' }
}

/**
 * Chooses the builder of a command that does not use a cluster. For such a command, only the environment can select a
 * context other than the current one.
 */
export async function currentBuilder(workspace: Pick<Workspace, 'cwd' | 'env'>): Promise<ChosenBuilder> {
  const { stored, namespace } = await findBuildTarget(workspace)
  return chooseBuilder(workspace, stored, namespace)
}
