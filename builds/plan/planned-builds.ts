import { relative } from 'node:path'
import { statIfFound } from '../../adapters/files/stat-if-found.ts'
import { composeBuildSpec, noSecret } from '../../compiler/compose/build-spec.ts'
import type { Build, Project, Service } from '../../compiler/compose/project.ts'
import { diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import type { Plan } from '../../compiler/plan/plan.ts'
import { noContext } from '../../compiler/plan/pod/image.ts'
import { mayMove } from '../../compiler/values/images/build-context.ts'
import { NotBuilt } from '../builder/builder.ts'
import { type HiddenValues, hiddenValues } from './hidden-values.ts'
import { type PlannedBuild, withMoving } from './planned-build.ts'

/** Commands that build images. They differ in their options and in the settings that can name the registry. */
export type ImageCommand = 'build' | 'deploy' | 'publish'

/** Diagnostic for an image that has no registry to be pushed to. */
export const noRegistry = diagnostic({
  code: 'image/not-built',
  severity: 'error',
  explain: `The service has \`build\` and no \`image\`, and no registry is set for its image. devctl pushes the images that it builds to a registry that the cluster pulls from.

\`\`\`sh
devctl deploy --registry registry.example.com/team
devctl context use kind-dev --registry registry.example.com/team
devctl deploy --image web=registry.example.com/team/web:1.4
\`\`\`

The image is called \`REGISTRY/ENVIRONMENT-SERVICE:TAG\`, where the tag is \`--tag\`, else a hash of what the build reads. \`--image\`, \`--images-file\` and \`image:\` set the full name.`,
  text: ({ service, command }: { readonly service: string; readonly command: ImageCommand }) => ({
    message: `no registry is set for the image of \`${service}\``,
    hint: `add \`--registry\`, or \`image:\` to the service, or set \`DEVCTL_REGISTRY\`, \`registry\` in devctl.yml${command === 'publish' ? '' : ' or `devctl context use NAME --registry REGISTRY`'}${command === 'build' ? '' : `; \`--image ${service}=REFERENCE\` names an image that is there`}`,
  }),
})

/** Returns the builds of the plan. Throws `NotBuilt` for images without a registry that have to be pushed. */
export function plannedBuilds(
  project: Project,
  plan: Plan,
  isPushed = true,
  command: ImageCommand = 'deploy',
): readonly PlannedBuild[] {
  const reporter = new Reporter()
  for (const { service, hasRegistry, span } of plan.builds)
    if (isPushed && !hasRegistry) reporter.report(noRegistry, span, { service, command })
  const found = reporter.diagnostics()
  if (found.length > 0) throw new NotBuilt(found)
  const builds = plan.builds.map(
    ({ service: name, image, contentImage, hasRegistry, dependsOn, span }): PlannedBuild => {
      // The plan only has builds of services with `build`.
      const service = (project.services.get(name) ?? project.contextServices.get(name))!
      const { dockerfileInline: inline, tags, target, ssh } = service.build!
      const hidden = hiddenOf(service.build!, project)
      return {
        service: name,
        span,
        ...(inline && { inline }),
        ...(target && { target }),
        ssh,
        // An image that is not pushed needs no name.
        reference: hasRegistry ? image : '',
        contentReference: hasRegistry ? contentImage : undefined,
        isMoving: hidden !== undefined || isMoving(service.build!) || isRebuilt(service, command),
        ...(hidden !== undefined && { hidden }),
        tags: tags.map(({ value }) => value),
        dependsOn,
        specOf: (reporter, _images, given) => {
          checkFolders(service.build!, project, reporter, command)
          checkSecretFiles(service.build!, project, reporter, given)
          return composeBuildSpec(service, project, reporter, given)!
        },
      }
    },
  )
  return withMoving(builds)
}

/** True if the image can change while its content tag stays the same. */
const isMoving = ({ context, additionalContexts }: Build): boolean =>
  (!context.value.startsWith('/') && mayMove(context.value)) ||
  additionalContexts.some(one => 'remote' in one && mayMove(one.remote))

const hiddenOf = (
  { args, dockerfileInline, target, labels }: Build,
  { secretPlaces }: Project,
): HiddenValues | undefined => hiddenValues(args, [dockerfileInline, target, ...labels], secretPlaces)

/**
 * Returns true if the image is rebuilt each time, because it depends on more than the files, for example on a newer
 * base image. As in Compose, `pull_policy: build` applies to all commands. `no_cache` and `pull` apply to all commands
 * except a deploy.
 */
const isRebuilt = ({ build, pullPolicy }: Service, command: ImageCommand): boolean =>
  pullPolicy?.value === 'build' ||
  (command !== 'deploy' && build !== undefined && (build.noCache || build.noCacheFilter.length > 0 || build.pull))

/**
 * Reports build contexts that are not folders, because the builder would take a missing folder for an empty one. The
 * compiler checks only the contexts of images whose tag is a hash of what the build reads.
 */
function checkFolders(
  { context, additionalContexts }: Build,
  { directory }: Project,
  reporter: Reporter,
  command: ImageCommand,
): void {
  const all = [context, ...additionalContexts.flatMap(one => ('folder' in one ? [{ ...one, value: one.folder }] : []))]
  for (const { value: folder, span } of all) {
    if (!folder.startsWith('/') || statIfFound(folder)?.isDirectory()) continue
    const facts = { context: relative(directory, folder) || '.', isBuild: command === 'build' }
    reporter.report(noContext, span, facts)
  }
}

/**
 * Reports secrets whose files do not exist. Skips secrets whose ids are in `given`, because an option supplies their
 * values.
 */
function checkSecretFiles({ secrets }: Build, project: Project, reporter: Reporter, given: ReadonlySet<string>): void {
  for (const { id, source: name, span } of secrets) {
    const source = project.secrets.get(name)?.source
    if (source?.kind !== 'file' || given.has(id)) continue
    const found = statIfFound(source.path.value)
    if (found && !found.isDirectory()) continue
    const related = [{ span, message: 'the build uses it here' }]
    reporter.report(noSecret, source.path.span, { name, file: source.path.value }, related)
  }
}
