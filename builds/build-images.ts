import { BuilderError } from '../adapters/buildkit/failure.ts'
import { pause } from '../adapters/http/back-off.ts'
import { haveDigests, type ResolveOptions } from '../adapters/registry/registry-client.ts'
import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../compiler/diagnostics/reporter.ts'
import { dockerfileStages } from '../compiler/values/dockerfile/dockerfile.ts'
import type { BuildSpec } from '../compiler/values/images/build-spec.ts'
import { changeFinder } from '../project/hashes/hashed-files.ts'
import { secretsInText, secretsOfInput } from './build-secrets.ts'
import { type EnsureContext, NotBuilt } from './builder/builder.ts'
import type { ChosenBuilder } from './builder/choose-builder.ts'
import { fromEnvironment } from './builder/from-environment.ts'
import { loginOf, openBuilder } from './builder/open-builder.ts'
import { checkSshKeys } from './builder/ssh-keys.ts'
import { dockerfileText } from './dockerfile-place.ts'
import type { BuildEvent } from './events.ts'
import { shownPath } from './failures/failed-step.ts'
import { notBuilt } from './failures/not-built.ts'
import { type BuildSettings, imageInput } from './plan/image-input.ts'
import type { PlannedBuild } from './plan/planned-build.ts'
import { registryOptions } from './plan/registry-options.ts'
import { withDigest } from './plan/with-digest.ts'
import { type BuildEnd, runBuilds } from './run-builds.ts'
import { withImagePlaces } from './unpushed-images.ts'

interface BuildingContext extends EnsureContext {
  readonly chosen: ChosenBuilder
  readonly settings: BuildSettings
  /** References of images that exist already, by service. */
  readonly images: ReadonlyMap<string, string>
  readonly signal: AbortSignal
}

/**
 * Builds images, pushes them, and returns their references with digests, by service. Throws `NotBuilt` with a
 * diagnostic for each image that failed, a UserError if the builder does not answer, or the signal's abort reason.
 */
export async function buildImages(
  builds: readonly PlannedBuild[],
  { workspace, chosen, settings, images, signal, on }: BuildingContext,
): Promise<ReadonlyMap<string, string>> {
  const { env } = workspace
  const given = new Set(settings.secrets?.keys())
  const specs = await specsOf(builds, images, given, { env, on })
  const services = builds.map(({ service }) => `\`${service}\``).join(', ')
  const { builder, from } = await openBuilder(chosen, `for the images of ${services}`, env, signal)
  const version = builder.version === undefined ? '' : ` ${builder.version}`
  on({ type: 'choice', text: `building with ${builder.name}${version}, which is ${from}` })
  try {
    const ends = await withImagePlaces(builds, settings.push !== false, ({ builds, outputOf, layoutsOf }) =>
      runBuilds(
        builds,
        (build, images) => {
          // Unknown values were already reported.
          const spec = build.specOf(new Reporter(), images, given)
          const base = { images, layouts: layoutsOf(images) }
          const input = fromEnvironment(imageInput(spec, settings, base, outputOf(build)), env)
          workspace.secrets?.add(secretsOfInput(input))
          return input
        },
        images,
        {
          builder,
          signal,
          on: ownSteps(specs, onceEach(specs, workspace.cwd, on)),
          changesIn: changeFinder,
          // Masks these secrets in the output of steps.
          onSecret: content => workspace.secrets?.add(secretsInText(Buffer.from(content).toString())),
          credentials: async host => {
            const login = await loginOf(host, workspace, signal)
            if (login) workspace.secrets?.add([login.secret])
            return login
          },
          now: () => process.uptime() * 1000,
          pause,
        },
      ),
    )
    const isPushed = settings.push !== false
    const confirmed = isPushed ? await confirmPushed(builds, ends, registryOptions({ workspace, on }, signal)) : ends
    return referencesOf(builds, confirmed, isPushed, (build, end) =>
      notBuilt(build, withSecrets(specs.get(build.service)!, settings), workspace.cwd, end),
    )
  } finally {
    builder.close()
  }
}

/** Returns the spec with the additional secrets of the settings, which replace secrets with the same id. */
const withSecrets = (spec: BuildSpec, { secrets }: BuildSettings): BuildSpec => ({
  ...spec,
  secrets: new Map([...spec.secrets, ...(secrets ?? [])]),
})

/**
 * Returns a handler that forwards the events of builds, and removes the stages of other Dockerfiles from the names of
 * steps. If several builds share a step, a builder runs the step only once, and names it after the stage of the first
 * of these builds. In the other builds, the step is shown by its instruction alone. Reads the Dockerfiles.
 */
export function ownSteps(
  specs: ReadonlyMap<string, Pick<BuildSpec, 'context' | 'dockerfile'>>,
  on: (event: BuildEvent) => void,
): (event: BuildEvent) => void {
  const known = new Map<string, ReadonlySet<string> | undefined>()
  const stagesOf = (service: string) => {
    if (!known.has(service)) known.set(service, ownStages(specs.get(service)!))
    return known.get(service)
  }
  return event => {
    if (event.type !== 'build-status' || !event.status.vertexes) return on(event)
    const stages = stagesOf(event.name)
    const vertexes = event.status.vertexes.map(vertex => {
      const [stage, name] = STEP_NAME.exec(vertex.name) ?? []
      const isForeign = stage !== undefined && stages?.has(name!.toLowerCase()) === false
      return isForeign ? { ...vertex, name: vertex.name.slice(stage.length) } : vertex
    })
    on({ ...event, status: { ...event.status, vertexes } })
  }
}

/** Pattern of a step name such as `[linux/amd64 tested 2/4] RUN npm test`: platform, stage, number of the step. */
const STEP_NAME = /^\[(?:\S+\/\S+ )?(\S+) \d+\/\d+\] /

/**
 * Returns the stages of a Dockerfile as step names show them; undefined if the Dockerfile is not on this machine, or if
 * another frontend names the steps.
 */
function ownStages(spec: Pick<BuildSpec, 'context' | 'dockerfile'>): ReadonlySet<string> | undefined {
  const text = dockerfileText(spec)
  const stages = text === undefined ? undefined : dockerfileStages(text)
  return stages && new Set(stages.map(name => (/^\d+$/.test(name) ? `stage-${name}` : name.toLowerCase())))
}

/**
 * Returns a handler that forwards the events of builds. It sends each warning about a Dockerfile only once, even if
 * several services use the Dockerfile, and adds the path of the Dockerfile.
 */
function onceEach(
  specs: ReadonlyMap<string, BuildSpec>,
  cwd: string,
  on: (event: BuildEvent) => void,
): (event: BuildEvent) => void {
  const seen = new Set<string>()
  return event => {
    if (event.type !== 'build-status' || !event.status.warnings) return on(event)
    const { context, dockerfile } = specs.get(event.name)!
    const path = 'path' in dockerfile && 'folder' in context ? shownPath(dockerfile.path, cwd) : undefined
    const warnings = event.status.warnings.flatMap(one => {
      const key = JSON.stringify([
        path ?? event.name,
        one.ranges?.[0]?.start?.line,
        Buffer.from(one.short ?? []).toString(),
      ])
      if (one.info && seen.has(key)) return []
      seen.add(key)
      return [one.info && path !== undefined ? { ...one, info: { ...one.info, filename: path } } : one]
    })
    on({ ...event, status: { ...event.status, warnings } })
  }
}

/**
 * Returns the build specs, by service. Throws `NotBuilt` for secrets and SSH keys that do not exist on this machine.
 */
async function specsOf(
  builds: readonly PlannedBuild[],
  images: ReadonlyMap<string, string>,
  given: ReadonlySet<string>,
  { env, on }: Pick<EnsureContext, 'on'> & Pick<EnsureContext['workspace'], 'env'>,
): Promise<ReadonlyMap<string, BuildSpec>> {
  const reporter = new Reporter()
  const specs = new Map(builds.map(({ service, specOf }) => [service, specOf(reporter, images, given)]))
  const withoutKeys = await checkSshKeys(builds, specs, env)
  const diagnostics = [...reporter.diagnostics(), ...withoutKeys]
  if (reporter.hasErrors || withoutKeys.length > 0) throw new NotBuilt(diagnostics)
  if (diagnostics.length > 0) on({ type: 'diagnostics', diagnostics })
  return specs
}

/**
 * Checks that the registries have the images that a builder has pushed. Returns the outcome of each build, by service:
 * a build counts as failed if its image is missing. Ignores registries that this machine cannot reach. Throws the
 * signal's abort reason.
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

/**
 * Limits for querying a registry that the builder has just pushed to. A single attempt is enough: if the registry does
 * not answer, probably only the builder can reach it.
 */
const RETRIES = { attempts: 1, silence: 3000 }

const notThere = (name: string): BuildEnd => ({
  kind: 'failed',
  error: new BuilderError('registry', `the builder has pushed \`${name}\`, but the registry does not have it`),
})

/**
 * Returns the references of the built images. Throws `NotBuilt` if an image is missing; a skipped build needs no
 * diagnostic, because the build that it depends on has one.
 */
function referencesOf(
  builds: readonly PlannedBuild[],
  ends: ReadonlyMap<string, BuildEnd>,
  isPushed: boolean,
  explain: (build: PlannedBuild, end: BuildEnd) => readonly Diagnostic[],
): ReadonlyMap<string, string> {
  const diagnostics = builds.flatMap(build => explain(build, ends.get(build.service)!))
  if (diagnostics.length > 0) throw new NotBuilt(diagnostics)
  return new Map(
    builds.map(({ service, reference }) => {
      const end = ends.get(service)!
      const digest = isPushed && end.kind === 'built' ? end.digest : undefined
      return [service, withDigest(reference, digest)]
    }),
  )
}
