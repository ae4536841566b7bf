import { registryOf, repositoryOf } from '../../adapters/registry/registry.ts'
import { diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { parseImageReference } from '../../compiler/values/image-reference.ts'
import { NotBuilt } from './builder.ts'
import { isPinned } from './find-images.ts'
import type { PlannedBuild } from './planned-build.ts'

const officialName = diagnostic({
  code: 'image/official-name',
  severity: 'error',
  explain: `An image without a registry and a namespace, such as \`web:1.4\`, is an official image of Docker Hub (\`docker.io/library/web:1.4\`). Nobody else can push images of that kind. A container engine keeps the image that it builds on its own machine, so the name works there; a cluster has to pull it.

\`\`\`yaml
services:
  web:
    build: .
    image: registry.example.com/team/web:1.4    # or no \`image\`: --registry and the name of the service
\`\`\`

For an image that is loaded onto the nodes, for example with \`kind load docker-image\`, write \`pull_policy: never\`, and name it: with \`deploy --image web=web:1.4\` nothing is built, and nodes do not pull it.`,
  text: ({ service, image, isTag }: { readonly service: string; readonly image: string; readonly isTag: boolean }) => ({
    message: `the image of \`${service}\` cannot be pushed as \`${image}\`, the name of an official image of Docker Hub`,
    hint: isTag
      ? `write \`REGISTRY/${image}\` under \`tags\``
      : `write \`image: REGISTRY/${image}\`, or remove \`image\` and add \`--registry\``,
  }),
})

/** Throws `NotBuilt` for images that nobody could push, before they are built. */
export function refuseOfficialNames(images: readonly PlannedBuild[]): void {
  const reporter = new Reporter()
  for (const { service, reference, tags, span } of images) {
    const image = [reference, ...(isPinned(reference) ? [] : tags)].find(isOfficial)
    if (image !== undefined) reporter.report(officialName, span, { service, image, isTag: image !== reference })
  }
  if (reporter.hasErrors) throw new NotBuilt(reporter.diagnostics())
}

/** True for the name of an official image of Docker Hub, without a digest. */
export function isOfficial(reference: string): boolean {
  const read = parseImageReference(reference)
  if (!read.ok || read.value.digest !== undefined) return false
  const { name } = read.value
  return registryOf(name) === 'docker.io' && repositoryOf(name).startsWith('library/')
}
