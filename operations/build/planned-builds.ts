import type { Project } from '../../compiler/compose/project.ts'
import { type Diagnostic, diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import type { Plan } from '../../compiler/plan/plan.ts'
import { NotBuilt } from './builder.ts'
import type { PlannedBuild } from './planned-build.ts'

const noRegistry = diagnostic({
  code: 'image/not-built',
  severity: 'error',
  explain: `The service has \`build\` and no \`image\`, and no registry is set for its image. devctl pushes the images that it builds to a registry that the cluster pulls from.

\`\`\`
devctl deploy --registry registry.example.com/team
devctl context use kind-dev --registry registry.example.com/team
devctl deploy --image web=registry.example.com/team/web:1.4
\`\`\`

The image is called \`REGISTRY/ENVIRONMENT-SERVICE:TAG\`, where the tag is \`--tag\`, else a hash of what the build reads. \`--image\`, \`--images-file\` and \`image:\` set the full name.`,
  text: ({ service }: { readonly service: string }) => ({
    message: `no registry is set for the image of \`${service}\``,
    hint: `add \`--registry\`, or \`image:\` to the service; \`--image ${service}=REFERENCE\` deploys an image that is there`,
  }),
})

interface Compiled {
  readonly project: Project
  readonly plan: Plan
  readonly diagnostics: readonly Diagnostic[]
  /** The tag that an option gives to all images. */
  readonly tag?: string | undefined
}

/**
 * The images that services are built to, without those that are `given`: a deploy builds those that
 * no registry has. Throws `NotBuilt` for images without a registry (`image/no-registry`).
 */
export function plannedBuilds(
  { project, plan, diagnostics, tag }: Compiled,
  given: ReadonlySet<string>,
): readonly PlannedBuild[] {
  const places = diagnostics.flatMap(({ code, span }) => (code === 'image/no-registry' && span ? span : []))
  const reporter = new Reporter()
  const planned = [...project.services.values()].flatMap(({ name, image, build }): readonly PlannedBuild[] => {
    const reference = plan.images.get(name)
    if (!build || reference === undefined || given.has(name)) return []
    const { span } = build
    if (!places.some(({ file, start }) => file === span.file && start === span.start))
      return [{ service: name, build, reference, hasContentTag: !image && tag === undefined, dependsOn: [] }]
    reporter.report(noRegistry, span, { service: name })
    return []
  })
  const found = reporter.diagnostics()
  if (found.length > 0) throw new NotBuilt(found)
  return planned
}
