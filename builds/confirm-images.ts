import { type ResolveOptions, resolveDigests } from '../adapters/registry/registry-client.ts'
import { describeProblem, type ProblemText } from '../adapters/registry/registry-problem.ts'
import { diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../compiler/diagnostics/reporter.ts'
import type { Span } from '../compiler/text/source.ts'
import { NotBuilt } from './builder/builder.ts'
import { withDigest } from './plan/with-digest.ts'

/** An image that this command did not build, because the user has stated that it is already in a registry. */
export interface Claimed {
  /** Name of the service in the Compose file. */
  readonly service: string
  readonly reference: string
  /** Position of the service's `build`. */
  readonly span: Span
}

const notConfirmed = diagnostic({
  code: 'image/not-confirmed',
  severity: 'error',
  explain: `Published manifests must run what was reviewed. A tag can be moved, and may not exist, so devctl asks the registry for the digest of the image of a service with \`build\` and writes that. The registry did not return a digest.

Build and push the image with the publish, push it before, or name it with its digest, which needs no query:

\`\`\`sh
devctl publish --environment staging --build
docker buildx bake --push --metadata-file images.json
devctl publish --environment staging --images-file images.json
devctl publish --environment staging --image web=registry.example.com/web:1.4@sha256:…
\`\`\``,
  text: ({ service, problem }: { readonly service: string; readonly problem: ProblemText }) => ({
    message: `${problem.message} (the image of \`${service}\`)`,
    notes: problem.notes,
    hint: problem.hint ?? 'build it with `--build`, push it first, or name it with its digest',
  }),
})

/**
 * Asks the registries for the digests of images, and returns the references with digests, by service. A reference that
 * has a digest stays unchanged. Throws `NotBuilt` with a diagnostic for each image that its registry does not confirm.
 */
export async function confirmImages(
  images: readonly Claimed[],
  options: ResolveOptions,
): Promise<ReadonlyMap<string, string>> {
  const resolved = await resolveDigests(
    images.map(({ reference }) => reference),
    options,
  )
  const reporter = new Reporter()
  const confirmed = new Map<string, string>()
  for (const { service, reference, span } of images) {
    const found = resolved.get(reference)!
    if ('problem' in found)
      reporter.report(notConfirmed, span, { service, problem: describeProblem(reference, found.problem) })
    else confirmed.set(service, withDigest(reference, found.digest))
  }
  if (confirmed.size < images.length) throw new NotBuilt(reporter.diagnostics())
  return confirmed
}
