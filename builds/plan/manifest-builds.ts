import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { withBaseImages } from '../../compiler/manifest/base-images.ts'
import { hashManifestBuilds } from '../../compiler/manifest/build-hash.ts'
import { manifestBuildSpec, manifestContext } from '../../compiler/manifest/build-spec.ts'
import type { ImageBuild } from '../../compiler/manifest/manifest.ts'
import type { Plan } from '../../compiler/plan/plan.ts'
import { SecretPlaces } from '../../compiler/text/secret-places.ts'
import type { BuildOverrides } from '../../compiler/values/dockerfile/dockerfile-images.ts'
import { type ContextSource, mayMove } from '../../compiler/values/images/build-context.ts'
import { nameOfContent } from '../../compiler/values/images/image-reference.ts'
import { boundaryOf } from '../../project/boundary.ts'
import type { LoadInput } from '../../project/input.ts'
import { createHost, variablesFor } from '../../project/node-host.ts'
import { manifestOf } from '../../project/open-project.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { Workspace } from '../../project/workspace.ts'
import { NotBuilt } from '../builder/builder.ts'
import { buildVariables, builtImage } from '../built-image.ts'
import { hiddenValues } from './hidden-values.ts'
import { type PlannedBuild, withMoving } from './planned-build.ts'
import { noRegistry } from './planned-builds.ts'

interface Names {
  readonly plan: Plan
  readonly registry: string | undefined
  readonly tag?: string | undefined
  /** False if the images are not pushed, so that they need no registry. */
  readonly isPushed?: boolean | undefined
  /** True for a deploy. If `tag` is set, a deploy uses the images with that tag unchanged, whatever their content. */
  readonly isDeploy?: boolean
  /** Build settings from the command line. */
  readonly overrides?: BuildOverrides
}

/**
 * Returns the builds that `build` of the manifest declares. Names their images in the same way as images of services.
 * Throws `NotBuilt` for images without a registry, and a UserError for an image that has the name of a service with
 * `build`.
 */
export function manifestBuilds(
  workspace: Workspace,
  loading: LoadInput,
  project: OpenProject,
  { plan, registry, tag, isPushed = true, isDeploy = false, overrides = {} }: Names,
): readonly PlannedBuild[] {
  const written = manifestOf(project)
  if (!written) return []
  // Okteto takes an image and a service with one name for the same.
  const manifest = written.dialect === 'okteto' ? { ...written, build: withoutServices(written.build, plan) } : written
  if (manifest.build.size === 0) return []
  checkNames(manifest.build, plan)
  const reporter = new Reporter()
  for (const { name, image, span } of manifest.build.values())
    if (isPushed && !image && registry === undefined)
      reporter.report(noRegistry, span, { service: name, command: isDeploy ? 'deploy' : 'build' })
  const host = createHost({ ...variablesFor(workspace), boundary: boundaryOf(workspace, loading, project) })
  const secrets = project.secrets ?? new SecretPlaces()
  const images = withBaseImages(manifest, host, reporter, overrides)
  if (reporter.hasErrors) throw new NotBuilt(reporter.diagnostics())
  const build = new Map([...images].map(([name, { build }]) => [name, build]))
  const hashes = hashManifestBuilds({ manifest: { ...manifest, build }, host, secrets })
  const contentTag = (name: string) => hashes.get(name)!.slice(0, 12)
  const repository = `${(registry ?? '').replace(/\/+$/, '')}/${plan.environment.name}-`
  const referenceOf = (name: string, tag: string) => (registry === undefined ? '' : `${repository}${name}:${tag}`)
  const contentOf = ({ name, image }: ImageBuild) => {
    if (image) return nameOfContent(image.value, contentTag(name))
    return isDeploy && tag !== undefined ? undefined : referenceOf(name, contentTag(name))
  }
  const builds = [...images.values()].map(({ build, bases }): PlannedBuild => {
    const hidden = hiddenValues(build.args, [build.target], secrets)
    return {
      service: build.name,
      span: build.span,
      reference: build.image?.value ?? referenceOf(build.name, tag ?? contentTag(build.name)),
      contentReference: contentOf(build),
      isMoving: hidden !== undefined || isMoving(manifestContext(build.context.value, manifest.folder)),
      ...(hidden !== undefined && { hidden }),
      tags: [],
      dependsOn: build.dependsOn.map(({ value }) => value),
      specOf: (reporter, images) => ({
        ...manifestBuildSpec(build, { manifest, host, built: variablesOf(build, images) }, reporter),
        contexts: new Map([...bases].map(([image, service]) => [image, { service }])),
      }),
    }
  })
  return withMoving(builds)
}

const isMoving = (context: ContextSource): boolean => 'remote' in context && mayMove(context.remote)

/**
 * Throws a UserError if an image of the manifest and a service have the same name, because both would set the same
 * variables.
 */
function checkNames(builds: ReadonlyMap<string, ImageBuild>, { builds: ofServices }: Plan): void {
  const both = ofServices.find(({ service }) => builds.has(service))
  if (!both) return
  throw new UserError(`\`${both.service}\` is an image of the manifest and a service with \`build\``, {
    hint: 'remove one of the two, or give them different names',
  })
}

const withoutServices = (builds: ReadonlyMap<string, ImageBuild>, { builds: ofServices }: Plan) =>
  new Map([...builds].filter(([name]) => !ofServices.some(({ service }) => service === name)))

/**
 * Returns the `DEVCTL_BUILD_…` variables of the images that a build depends on. Images that are not built yet have no
 * variables.
 */
function variablesOf({ dependsOn }: ImageBuild, images: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const all = dependsOn.flatMap(({ value: name }) => {
    const reference = images.get(name)
    return reference === undefined ? [] : Object.entries(buildVariables('DEVCTL_BUILD', name, builtImage(reference)))
  })
  return new Map(all)
}
