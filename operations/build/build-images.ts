import type { Builder } from '../../adapters/buildkit/builder.ts'
import { connectToBuilder } from '../../adapters/buildkit/connect.ts'
import { BuilderError } from '../../adapters/buildkit/failure.ts'
import { readKeepalive } from '../../adapters/buildkit/keepalive.ts'
import type { Login } from '../../adapters/buildkit/session/session.ts'
import { pause } from '../../adapters/http/back-off.ts'
import { readRegistryCredentials } from '../../adapters/registry/docker-config.ts'
import { hostOf } from '../../adapters/registry/registry.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { BuildSpec } from '../../compiler/values/build-spec.ts'
import { type EnsuringWorld, NotBuilt } from './builder.ts'
import type { ChosenBuilder } from './choose-builder.ts'
import { type BuildSettings, imageInput } from './image-input.ts'
import { notBuilt } from './not-built.ts'
import type { PlannedBuild } from './planned-build.ts'
import { type BuildEnd, runBuilds } from './run-builds.ts'
import { withDigest } from './with-digest.ts'

interface BuildingWorld extends EnsuringWorld {
  readonly chosen: ChosenBuilder
  readonly settings: BuildSettings
  /** Those that there are already, by service. */
  readonly images: ReadonlyMap<string, string>
  readonly signal: AbortSignal
}

/**
 * Builds images and pushes them, and gives their references with digests, by service. Throws
 * `NotBuilt` with a diagnostic for each that failed, a UserError if the builder does not answer, and
 * the signal's reason.
 */
export async function buildImages(
  builds: readonly PlannedBuild[],
  { workspace, chosen, settings, images, signal, on }: BuildingWorld,
): Promise<ReadonlyMap<string, string>> {
  const { env } = workspace
  const specs = specsOf(builds)
  const builder = await openBuilder(chosen, builds, env, signal)
  try {
    const ends = await runBuilds(
      builds,
      ({ service, reference }, images) => {
        const spec = specs.get(service)!
        const names = [...new Set([reference, ...spec.tags])]
        return imageInput(spec, settings, images, { kind: 'registry', names })
      },
      images,
      { builder, signal, on, credentials: host => loginOf(host, env, signal), now: () => performance.now(), pause },
    )
    return referencesOf(builds, ends, (build, end) => notBuilt(build, specs.get(build.service)!, workspace.cwd, end))
  } finally {
    builder.close()
  }
}

/** What to build, by service. Throws `NotBuilt` for values that are not known on this machine. */
function specsOf(builds: readonly PlannedBuild[]): ReadonlyMap<string, BuildSpec> {
  const reporter = new Reporter()
  const specs = new Map(builds.map(({ service, specOf }) => [service, specOf(reporter)]))
  const found = reporter.diagnostics()
  if (found.length > 0) throw new NotBuilt(found)
  return specs
}

async function openBuilder(
  { address, from }: ChosenBuilder,
  builds: readonly PlannedBuild[],
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<Builder> {
  try {
    return await connectToBuilder(address, { signal, keepalive: readKeepalive(env) })
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof BuilderError)) throw error
    const services = builds.map(({ service }) => `\`${service}\``).join(', ')
    throw new UserError(error.message, {
      notes: [`the builder is chosen by ${from}`, `it is needed for the images of ${services}`],
      hint: 'set `BUILDKIT_HOST`, or `devctl context use NAME --builder ADDRESS`; with `--image SERVICE=REFERENCE` nothing is built',
      cause: error,
    })
  }
}

async function loginOf(
  host: string,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<Login | undefined> {
  const registry = hostOf(host)
  const found = (await readRegistryCredentials([registry], { env, signal })).get(registry)
  if (found?.kind === 'login') return { username: found.username, secret: found.password }
  // Without a user name, BuildKit takes the secret for an identity token.
  if (found?.kind === 'token') return { username: '', secret: found.identityToken }
  return undefined
}

/** Throws `NotBuilt` if an image is missing; what was skipped has its reason with another one. */
function referencesOf(
  builds: readonly PlannedBuild[],
  ends: ReadonlyMap<string, BuildEnd>,
  explain: (build: PlannedBuild, end: BuildEnd) => readonly Diagnostic[],
): ReadonlyMap<string, string> {
  const diagnostics = builds.flatMap(build => explain(build, ends.get(build.service)!))
  if (diagnostics.length > 0) throw new NotBuilt(diagnostics)
  return new Map(
    builds.map(({ service, reference }) => {
      const end = ends.get(service)!
      const digest = end.kind === 'built' ? end.digest : undefined
      return [service, withDigest(reference, digest)]
    }),
  )
}
