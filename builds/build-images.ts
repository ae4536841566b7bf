import { pause } from '../adapters/http/back-off.ts'
import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../compiler/diagnostics/reporter.ts'
import type { BuildSpec } from '../compiler/values/images/build-spec.ts'
import { changeFinder } from '../project/hashes/hashed-files.ts'
import { secretsInText, secretsOfInput } from './build-secrets.ts'
import { type EnsureContext, NotBuilt } from './builder/builder.ts'
import type { ChosenBuilder } from './builder/choose-builder.ts'
import { fromEnvironment } from './builder/from-environment.ts'
import { loginOf, openBuilder } from './builder/open-builder.ts'
import { checkSshKeys } from './builder/ssh-keys.ts'
import { confirmPushed } from './confirm-pushed.ts'
import type { BuildEvent } from './events.ts'
import { shownPath } from './failures/failed-step.ts'
import { notBuilt } from './failures/not-built.ts'
import { type BuildSettings, imageInput } from './plan/image-input.ts'
import { ownSteps } from './plan/own-steps.ts'
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
 * diagnostic for each image that failed, a UserError if the builder does not answer, and the signal's abort reason.
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

/** Adds the secrets of the options to the spec. */
const withSecrets = (spec: BuildSpec, { secrets }: BuildSettings): BuildSpec => ({
  ...spec,
  secrets: new Map([...spec.secrets, ...(secrets ?? [])]),
})

/**
 * Forwards the events of builds. Sends each warning about a Dockerfile only once, even if several services use the
 * Dockerfile, and adds the path of the Dockerfile.
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
