import { diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import type { BuildContext } from '../../compiler/values/images/build-context.ts'
import type { BuildSpec } from '../../compiler/values/images/build-spec.ts'
import { comparableName, isPinned } from '../../compiler/values/images/image-reference.ts'
import { NotBuilt } from '../builder/builder.ts'
import { namesOf, type PlannedBuild } from './planned-build.ts'
import { withDigest } from './with-digest.ts'

const sameName = diagnostic({
  code: 'image/same-name',
  severity: 'error',
  explain: `Two builds with different content have an image name in common, in \`image:\` or \`tags:\` of \`build\`. A name can only point to one image: the one that is pushed last would replace the other, and a service that pulls by this name could get either.

\`\`\`yaml
services:
  web:
    build: web
    image: registry.example.com/team/web:1
  worker:
    build: worker
    image: registry.example.com/team/worker:1    # not the name of \`web\`
\`\`\`

Services with the same name and the same \`build\` are built once and share the image. A service that only runs the image of another one needs no \`build\`.`,
  text: ({ first, second, name }: { readonly first: string; readonly second: string; readonly name: string }) => ({
    message: `the images of \`${first}\` and \`${second}\` have the same name \`${name}\`, but are built from different content`,
    hint: 'give one of them another name, or the same `build` to both; a service that runs the image of another one needs no `build`',
  }),
})

/**
 * Throws `NotBuilt` if images of different content share a name, because each push would move the name to another
 * image.
 */
export function refuseSameNames(images: readonly PlannedBuild[]): void {
  const reporter = new Reporter()
  const owners = new Map<string, PlannedBuild>()
  const contents = contentsOf(images)
  const contentOf = ({ service }: PlannedBuild) => contents.get(service)
  const built = images.filter(({ reference, contentReference }) => contentReference && !isPinned(reference))
  for (const image of built) {
    const ownerOf = (name: string) => owners.get(comparableName(name))
    const clash = namesOf(image).find(name => ownerOf(name) && contentOf(ownerOf(name)!) !== contentOf(image))
    for (const name of namesOf(image)) if (!ownerOf(name)) owners.set(comparableName(name), image)
    if (clash === undefined) continue
    const first = ownerOf(clash)!
    const parameters = { first: first.service, second: image.service, name: clash }
    const { span } = first
    const related = span && [{ span, message: `the \`build\` of \`${first.service}\`` }]
    reporter.report(sameName, image.span, parameters, related)
  }
  if (reporter.hasErrors) throw new NotBuilt(reporter.diagnostics())
}

/**
 * Maps each service to a text that identifies the content of its image: the hash at the end of `contentReference`, and
 * the values that the hash omits (`hidden`), including the hidden values of all images that the image is based on.
 */
function contentsOf(images: readonly PlannedBuild[]): ReadonlyMap<string, string> {
  const byService = new Map(images.map(image => [image.service, image]))
  const hidden = new Map<string, readonly string[]>()
  const hiddenIn = (service: string): readonly string[] => {
    const known = hidden.get(service)
    if (known) return known
    hidden.set(service, [])
    const image = byService.get(service)
    const all = image ? [image.hidden?.all ?? [], image.dependsOn.map(hiddenIn)].flat(2) : []
    hidden.set(service, all)
    return all
  }
  const hashOf = ({ contentReference = '' }: PlannedBuild) => contentReference.slice(-12)
  return new Map(images.map(image => [image.service, JSON.stringify([hashOf(image), ...hiddenIn(image.service)])]))
}

/** Builds without duplicates, and the services whose builds were left out. */
export interface DistinctBuilds {
  readonly builds: readonly PlannedBuild[]
  /** Services whose builds are left out, each with the service that is built instead. */
  readonly twins: ReadonlyMap<string, string>
  /** Returns the images of all builds, given the images of the distinct builds. */
  readonly allOf: (images: ReadonlyMap<string, string>) => ReadonlyMap<string, string>
}

/** Merges builds with the same content in the same repository into one build, which has the names of all of them. */
export const distinctBuilds = (images: readonly PlannedBuild[]): DistinctBuilds =>
  oncePer(images, ({ contentReference }, content) => `${contentReference} ${content}`)

/**
 * Merges builds with the same content and the same settings, also across repositories. The builder pushes the one image
 * under the names of all merged builds.
 */
export const distinctContents = (
  images: readonly PlannedBuild[],
  specOf: (image: PlannedBuild) => BuildSpec,
): DistinctBuilds => oncePer(images, (image, content) => `${JSON.stringify(specOf(image), mapsAsLists)} ${content}`)

const mapsAsLists = (_: string, value: unknown) => (value instanceof Map ? [...value] : value)

/**
 * Merges the builds that have the same key, which is computed from the image and its content. Builds of unknown content
 * stay separate.
 */
function oncePer(
  images: readonly PlannedBuild[],
  keyOf: (image: PlannedBuild, content: string) => string,
): DistinctBuilds {
  const groups = new Map<string, readonly PlannedBuild[]>()
  const contents = contentsOf(images)
  for (const image of images) {
    const { service, reference, contentReference } = image
    const isApart = isPinned(reference) || !contentReference
    const key = isApart ? `service ${service}` : keyOf(image, contents.get(service)!)
    groups.set(key, [...(groups.get(key) ?? []), image])
  }
  if (groups.size === images.length) return { builds: images, twins: new Map(), allOf: built => built }
  const firsts = new Map(
    [...groups.values()].flatMap(group => group.map(({ service }) => [service, group[0]!.service] as const)),
  )
  const allOf = (built: ReadonlyMap<string, string>) =>
    new Map([
      ...images.flatMap(({ service, reference }) => {
        const found = built.get(firsts.get(service)!)
        return found === undefined ? [] : [[service, withDigest(reference, digestOf(found))] as const]
      }),
      ...built,
    ])
  return {
    builds: [...groups.values()].map(group => merged(group, firsts, allOf)),
    twins: new Map([...firsts].filter(([service, first]) => service !== first)),
    allOf,
  }
}

const digestOf = (reference: string): string | undefined => reference.split('@')[1]

function merged(
  group: readonly PlannedBuild[],
  firsts: ReadonlyMap<string, string>,
  allOf: DistinctBuilds['allOf'],
): PlannedBuild {
  const first = group[0]!
  const firstOf = (service: string) => firsts.get(service) ?? service
  const others = group.flatMap(namesOf).filter(name => name !== first.reference && name !== first.contentReference)
  return {
    ...first,
    tags: [...new Set([...first.tags, ...others])],
    isMoving: group.some(({ isMoving }) => isMoving),
    dependsOn: [...new Set(first.dependsOn.map(firstOf))],
    specOf: (reporter, images, given) => onFirsts(first.specOf(reporter, allOf(images), given), firstOf),
  }
}

/**
 * Returns a spec in which each reference to a merged service is replaced with the service that is built in its place.
 */
const onFirsts = (spec: BuildSpec, firstOf: (service: string) => string): BuildSpec => ({
  ...spec,
  dependsOn: spec.dependsOn.map(firstOf),
  contexts: new Map([...spec.contexts].map(([name, context]) => [name, onFirst(context, firstOf)])),
})

const onFirst = (context: BuildContext, firstOf: (service: string) => string): BuildContext =>
  context.service === undefined ? context : { ...context, service: firstOf(context.service) }
