import { devctlHome } from '../contexts/home.ts'
import { readContexts, type StoredContext } from '../contexts/store.ts'
import type { Workspace } from '../workspace.ts'

/** A builder, as the user has named it. */
export interface ChosenBuilder {
  /** The address of a BuildKit (`tcp://HOST:PORT`, `unix://PATH`), or `docker`: the local engine. */
  readonly address: string
  /** The origin of the choice, for messages. */
  readonly from: string
}

/** The address of the Docker Engine that the user's `docker` would use. */
export const LOCAL_ENGINE = 'docker'

/**
 * Chooses the builder as the specification says ("build"): BUILDKIT_HOST, else that of the
 * context, else the local engine.
 */
export function chooseBuilder(
  { env }: Pick<Workspace, 'env'>,
  context: Pick<StoredContext, 'name' | 'builder'> | undefined,
): ChosenBuilder {
  if (env.BUILDKIT_HOST) return { address: env.BUILDKIT_HOST, from: 'that of `BUILDKIT_HOST`' }
  if (context?.builder) return { address: context.builder, from: `that of the context \`${context.name}\`` }
  for (const variable of ['DOCKER_HOST', 'DOCKER_CONTEXT'])
    if (env[variable]) return { address: LOCAL_ENGINE, from: `the Docker Engine of \`${variable}\`` }
  return { address: LOCAL_ENGINE, from: 'the local engine: neither `BUILDKIT_HOST` nor the context names another' }
}

/** Chooses the builder of a command that talks to no cluster: the context is the current one. */
export function currentBuilder(workspace: Pick<Workspace, 'cwd' | 'env'>): ChosenBuilder {
  const { contexts, current } = readContexts(devctlHome(workspace))
  return chooseBuilder(workspace, current === undefined ? undefined : contexts.get(current))
}
