import type { Build } from '../../compiler/compose/project.ts'
import { type Diagnostic, diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'

/** An image that a deploy needs and no registry is known to have. */
export interface BuildRequest {
  /** As the Compose file names it. */
  readonly service: string
  readonly build: Build
}

export interface BuildOptions {
  /** Build although an image of the same input is there. */
  readonly force: boolean
  readonly signal: AbortSignal
}

/** Makes images. */
export interface ImageBuilder {
  /**
   * Sees to it that the image of each service is in a registry, and gives their references with
   * digests, by service. Throws `NotBuilt` for those that cannot be had, and the signal's reason.
   */
  ensure(images: readonly BuildRequest[], options: BuildOptions): Promise<ReadonlyMap<string, string>>
}

/** Images that could not be made; the diagnostics say why, each at its `build`. */
export class NotBuilt extends Error {
  readonly diagnostics: readonly Diagnostic[]

  constructor(diagnostics: readonly Diagnostic[]) {
    super('not all images were built')
    this.diagnostics = diagnostics
  }
}

const notBuilt = diagnostic({
  code: 'image/not-built',
  severity: 'error',
  explain: `The service has \`build\` and no \`image\`, and no registry is set for its image. devctl cannot build images yet; a later version will. Until then, build and push the image yourself.

\`\`\`
docker build --tag registry.example.com/team/web:1.4 --push .
devctl deploy --image web=registry.example.com/team/web:1.4
devctl deploy --registry registry.example.com/team --tag 1.4
\`\`\`

With \`--registry\` devctl expects the image under the name that \`devctl render --registry\` prints: \`REGISTRY/ENVIRONMENT-SERVICE:TAG\`, where the tag is \`--tag\`, else a hash of what the build reads. \`--image\`, \`--images-file\` and \`image:\` set the full name.`,
  text: ({ service, isForced }: { readonly service: string; readonly isForced: boolean }) =>
    isForced
      ? {
          message: `devctl cannot build the image of \`${service}\` yet: \`--build\` is not implemented`,
          hint: `build and push it yourself, then deploy without \`--build\`: \`--image ${service}=REFERENCE\`, or \`--registry\` and \`--tag\``,
        }
      : {
          message: `no registry is set for the image of \`${service}\`, and devctl cannot build it yet`,
          notes: ['a later version will build images'],
          hint: `build and push it, then add \`--image ${service}=REFERENCE\`, or \`--registry\` and \`--tag\``,
        },
})

/** The builder of a devctl that cannot build: refuses every image, at the place of its `build`. */
export const noBuilder: ImageBuilder = {
  async ensure(images, { force }) {
    const reporter = new Reporter()
    for (const { service, build } of images) reporter.report(notBuilt, build.span, { service, isForced: force })
    if (images.length > 0) throw new NotBuilt(reporter.diagnostics())
    return new Map()
  },
}
