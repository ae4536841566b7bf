import type { Project } from '../compiler/compose/project.ts'
import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import { count } from '../compiler/diagnostics/render/summary.ts'
import { UsageError, UserError } from '../compiler/diagnostics/user-error.ts'
import { HIDDEN } from '../compiler/text/secret-places.ts'
import { get } from '../compiler/text/tree.ts'
import { shortHash } from '../compiler/values/dns-name.ts'
import type { CacheExport } from '../compiler/values/images/build-spec.ts'
import { comparableName } from '../compiler/values/images/image-reference.ts'
import { isVariableWithSecret } from '../compiler/values/secrets/secret-names.ts'
import { withPlatformVariables } from '../platform/session/with-variables.ts'
import { ABOUT_OPTIONS, compileFiles } from '../project/compile-files.ts'
import { including, noSuchService } from '../project/names/named-services.ts'
import { manifestOf, openProject, targetOf } from '../project/open-project.ts'
import type { LocalContext } from '../project/session.ts'
import { chooseTargetDefaults, registryText } from '../project/target-defaults.ts'
import { tellToolFiles } from '../project/tool-files.ts'
import { type BuildOutcome, outcomeOf } from './build-outcome.ts'
import { findBuildTarget } from './builder/build-target.ts'
import { chooseBuilder } from './builder/choose-builder.ts'
import { missingImagesBuilder } from './ensure-images.ts'
import type { BuildEvent } from './events.ts'
import { withoutOthers } from './failures/remarks.ts'
import type { ImagesInput } from './input.ts'
import { type BuildSettings, exportingTo } from './plan/image-input.ts'
import { manifestBuilds } from './plan/manifest-builds.ts'
import { type PlannedBuild, withNeeded } from './plan/planned-build.ts'
import { plannedBuilds } from './plan/planned-builds.ts'
import { distinctBuilds } from './plan/same-images.ts'
import { untaggedNote } from './plan/untagged.ts'

/**
 * Builds the images of services with `build` whose content is in no registry, and pushes them. Throws a UserError if no
 * service has `build`, or if the registry or the builder is missing.
 */
export async function build(
  { workspace: here, signal, on }: LocalContext<BuildEvent>,
  input: ImagesInput,
): Promise<BuildOutcome> {
  const opened = await openProject(here, input)
  await tellToolFiles(here, on, manifestOf(opened)?.folder ?? here.cwd)
  const { manifest, ...environment } = targetOf(opened, {})
  const target = await findBuildTarget(here, { context: input.context, environment, manifest })
  const { workspace, project } = await withPlatformVariables(
    { workspace: here, project: opened, signal, on },
    input,
    target,
  )
  const lasting = chooseTargetDefaults(workspace, input, project, target)
  const { registry } = lasting
  const text = registryText(lasting)
  if (text !== undefined && input.push !== false) on({ type: 'choice', text })
  const { args, target: stage, platforms } = input
  const buildOverrides = { ...(args && { args }), target: stage, ...(platforms && { platforms }) }
  const { services = [] } = input
  // A service of an inactive profile is built if it is named, like an image of the manifest, which is no service.
  const named = services.filter(name => !manifestOf(project)?.build.has(name))
  const extra = { project, forBuild: 'build', buildOverrides, ...including(named, project) } as const
  const compiled = await compileFiles(workspace, [], input, { ...input, registry }, extra)
  const { plan, project: model } = compiled
  const all = withTargets(compiled.diagnostics, model, input).filter(({ code }) => !ABOUT_OPTIONS.has(code))
  const chosen = plan && services.length > 0 && new Set(withNeeded(services, plan.builds).map(({ service }) => service))
  const found = chosen ? withoutOthers(all, get(compiled.loaded?.tree, 'services'), chosen) : all
  on({ type: 'diagnostics', diagnostics: found })
  if (!plan || !model || count(found).error > 0) return { kind: 'refused', diagnostics: found }
  const { tag, push: isPushed } = input
  const note = untaggedNote(model, tag, chosen || undefined)
  if (note !== undefined) on({ type: 'note', text: note })
  return outcomeOf(on, () => {
    const ofManifest = manifestBuilds(workspace, input, project, {
      plan,
      registry,
      tag,
      isPushed,
      overrides: buildOverrides,
    })
    const all = [...plannedBuilds(model, plan, isPushed, 'build'), ...ofManifest]
    const wanted = namedBuilds(
      services,
      all,
      [...model.services.keys()],
      name => model.services.get(name)?.image?.value,
    )
    const { cacheExport, target: _, ...settings } = input
    const builds = withCacheExport(withSettings(wanted, services, input), services, cacheExport)
    const builder = missingImagesBuilder(
      { workspace, on },
      chooseBuilder(workspace, target.stored, target.namespace),
      settings,
    )
    return builder.ensure(builds, {
      build: input.noCache || input.pull || input.push === false ? 'all' : 'changed',
      given: plan.images,
      signal,
    })
  })
}

/**
 * Raises the diagnostic of an invalid `target` to an error if the image of its service is to be built. Drops it if
 * `--target` overrides that target.
 */
function withTargets(
  diagnostics: readonly Diagnostic[],
  project: Project | undefined,
  { services = [], target }: ImagesInput,
): readonly Diagnostic[] {
  const wanted = [...(project?.services.values() ?? [])].filter(
    ({ name }) => services.length === 0 || services.includes(name),
  )
  const spans = new Set(wanted.map(({ build }) => build?.target?.span))
  return diagnostics.flatMap((one): Diagnostic | readonly Diagnostic[] => {
    if (one.code !== 'build/unknown-target' || !spans.has(one.span)) return one
    return target === undefined ? { ...one, severity: 'error' } : []
  })
}

const isSameName = (one: string, other: string | undefined): boolean =>
  other !== undefined && comparableName(one) === comparableName(other)

/**
 * Returns the builds of the services in `names`, and the builds that they depend on. Without names, returns all builds.
 * Throws a UserError for a service without `build`.
 */
function namedBuilds(
  names: readonly string[],
  all: readonly PlannedBuild[],
  services: readonly string[],
  imageOf: (service: string) => string | undefined,
): readonly PlannedBuild[] {
  if (all.length === 0)
    throw new UserError('no service has `build`', {
      hint: 'add `build: FOLDER` to a service, or name a Dockerfile: `-f Dockerfile`',
    })
  if (names.length === 0) return all
  for (const name of names) {
    if (all.some(({ service }) => service === name)) continue
    if (!services.includes(name)) throw noSuchService(name, services)
    const maker = all.find(one => isSameName(one.reference, imageOf(name)))
    if (maker)
      throw new UserError(`service \`${name}\` has no \`build\`: its image is that of \`${maker.service}\``, {
        hint: `\`devctl build ${maker.service}\` builds it`,
      })
    throw new UserError(`service \`${name}\` has no \`build\``, {
      hint: `the services with \`build\` are ${all.map(({ service }) => `\`${service}\``).join(', ')}`,
    })
  }
  return withNeeded(names, all)
}

/**
 * Enables `--export-cache` for the named images (for all, if none is named), but not for the images that they are based
 * on. Throws a UsageError for several images, because each would replace the cache of the others.
 */
export function withCacheExport(
  builds: readonly PlannedBuild[],
  names: readonly string[],
  cacheExport: CacheExport | undefined,
): readonly PlannedBuild[] {
  if (cacheExport === undefined) return builds
  const isNamed = isNamedBy(names)
  const { builds: images } = distinctBuilds(builds.filter(isNamed))
  if (images.length > 1) {
    const all = images.map(({ service }) => `\`${service}\``).join(', ')
    throw new UsageError(`\`--export-cache\` is for one image, and would be for those of ${all}`, {
      hint: 'each would replace the cache of the others: name one service, or write `export_cache` into the `build` of each',
    })
  }
  return builds.map(build => (isNamed(build) ? exporting(build, cacheExport) : build))
}

/** Returns a function that is true for the named builds, or for all if none is named. */
const isNamedBy =
  (names: readonly string[]) =>
  ({ service }: PlannedBuild): boolean =>
    names.length === 0 || names.includes(service)

const exporting = (build: PlannedBuild, cacheExport: CacheExport): PlannedBuild => ({
  ...build,
  specOf: (...given) => exportingTo(build.specOf(...given), cacheExport),
})

/**
 * Returns the builds with `--target`, and with tags that depend on the options: `--build-arg`, `--target` and
 * `--platform` count like the same keys in the file. The target is only for the named images (for all, if none is
 * named), not for those that they are based on. Argument values that look secret do not affect the tag; an image with
 * such a value is rebuilt each time.
 */
export function withSettings(
  builds: readonly PlannedBuild[],
  names: readonly string[],
  { args = new Map(), target: given, platforms = [] }: BuildSettings,
): readonly PlannedBuild[] {
  const isNamed = isNamedBy(names)
  const shown = [...args].map(([name, value]) => [name, isVariableWithSecret(name, value) ? HIDDEN : value]).sort()
  const sorted = [...platforms].sort()
  const isMoving = [...args].some(([name, value]) => isVariableWithSecret(name, value))
  return builds.map(one => {
    const target = isNamed(one) ? given : undefined
    const build = target === undefined ? one : withTarget(one, target)
    const { reference, contentReference } = build
    if (!contentReference || (shown.length === 0 && target === undefined && sorted.length === 0)) return build
    const settings = [shown, target ?? '', sorted]
    const end = contentReference.length - HASH
    const hash = shortHash(JSON.stringify([contentReference.slice(end), ...settings]), HASH)
    const changed = `${contentReference.slice(0, end)}${hash}`
    return {
      ...build,
      contentReference: changed,
      reference: reference === contentReference ? changed : reference,
      ...(isMoving && { isMoving }),
    }
  })
}

const withTarget = (build: PlannedBuild, target: string): PlannedBuild => ({
  ...build,
  specOf: (...given) => ({ ...build.specOf(...given), target }),
})

/** Length of the hash at the end of the tag, in characters. */
const HASH = 12
