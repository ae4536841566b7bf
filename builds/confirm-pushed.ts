import { BuilderError } from '../adapters/buildkit/failure.ts'
import { haveDigests, type ResolveOptions } from '../adapters/registry/registry-client.ts'
import type { PlannedBuild } from './plan/planned-build.ts'
import { withDigest } from './plan/with-digest.ts'
import type { BuildEnd } from './run-builds.ts'

/**
 * Retries for a registry that the builder has just pushed to. If it does not answer, probably only the builder can
 * reach it.
 */
const RETRIES = { attempts: 1, silence: 3000 }

/**
 * Checks that the registries have the images that a builder has pushed; a build whose image is missing has failed.
 * Ignores registries that this machine cannot reach. Throws the signal's abort reason.
 */
export async function confirmPushed(
  builds: readonly PlannedBuild[],
  ends: ReadonlyMap<string, BuildEnd>,
  { env, signal, loginTo }: Pick<ResolveOptions, 'env' | 'signal' | 'loginTo'>,
): Promise<ReadonlyMap<string, BuildEnd>> {
  const pushed = builds.flatMap(({ service, reference }) => {
    const end = ends.get(service)
    return end?.kind === 'built' && end.digest !== undefined
      ? [[service, withDigest(reference, end.digest)] as const]
      : []
  })
  if (pushed.length === 0) return ends
  const names = pushed.map(([, name]) => name)
  const found = await haveDigests(names, { env, signal, ...(loginTo && { loginTo }), retries: RETRIES })
  const failed = pushed.filter(([, name]) => found.get(name) === false)
  return new Map([...ends, ...failed.map(([service, name]) => [service, notThere(name)] as const)])
}

const notThere = (name: string): BuildEnd => ({
  kind: 'failed',
  error: new BuilderError('registry', `the builder has pushed \`${name}\`, but the registry does not have it`),
})
