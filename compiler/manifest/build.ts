import { entries } from '../compose/read/tree-values.ts'
import { circle } from '../diagnostics/circle.ts'
import { diagnostic } from '../diagnostics/diagnostic.ts'
import { didYouMean } from '../diagnostics/suggest.ts'
import { reportToken } from '../text/interpolate.ts'
import type { At } from '../text/source.ts'
import { type Entry, entry, get, isMap, type Tree } from '../text/tree.ts'
import { parseBuildCaches } from '../values/images/build-cache.ts'
import { toVariableName } from '../values/variable-name.ts'
import { Distinct } from './duplicates.ts'
import type { BuildSecret, ImageBuild } from './manifest.ts'
import { readName } from './names.ts'
import { known, type Reading, readImage, readPairs, texts } from './values.ts'
import { isLate, lateVariables } from './variables.ts'

const secretSource = diagnostic({
  code: 'manifest/build-secret',
  severity: 'error',
  explain: `A build secret comes from a file or from an environment variable: it has either \`file\` or \`env\`.

\`\`\`yaml
build:
  api:
    secrets:
      npm: {env: NPM_TOKEN}
\`\`\``,
  text: (p: { id: string; both: boolean }) => ({
    message: p.both
      ? `the secret \`${p.id}\` has two sources, \`file\` and \`env\``
      : `the secret \`${p.id}\` has no source`,
    hint: p.both ? 'remove one of them' : 'add `file: PATH` or `env: NAME`',
  }),
})
const unknownBuild = diagnostic({
  code: 'manifest/unknown-build',
  severity: 'error',
  explain: '`depends_on` of an image names another entry of `build`, which is built first. This entry does not exist.',
  text: (p: { name: string; hint: string | undefined }) => ({
    message: `the image \`${p.name}\` does not exist in \`build\``,
    hint: p.hint,
  }),
})
const buildCircle = diagnostic({
  code: 'manifest/build-circle',
  severity: 'error',
  explain:
    'Images depend on each other in a cycle, so none of them can be built first: by `depends_on`, or by a Dockerfile that names the `image` of another one (`FROM`, `COPY --from=`, `RUN --mount=from=`). Remove one of them.',
  text: (p: { names: readonly string[] }) => ({
    message: `images depend on each other in a cycle: ${circle(p.names)}`,
  }),
})
const sameImage = diagnostic({
  code: 'manifest/same-image',
  severity: 'warning',
  explain:
    'Two entries of `build` are pushed with the same name: the one that is built later overwrites the other. Give them different names or tags.',
  text: (p: { image: string; other: string }) => ({
    message: `\`${p.image}\` is also the image of \`${p.other}\``,
    hint: 'give them different names or tags',
  }),
})

const unknownVariable = diagnostic({
  code: 'manifest/build-variable',
  severity: 'error',
  explain: `\`DEVCTL_BUILD_<IMAGE>_IMAGE\`, \`_REGISTRY\`, \`_REPOSITORY\`, \`_TAG\` and \`_SHA\` are set once an image is built. An image can use those of the images in its \`depends_on\`, which are built before it; the Dockerfile also gets them as arguments.

\`\`\`yaml
build:
  base: ./base
  api:
    context: ./api
    depends_on: base
    args:
      - BASE=\${DEVCTL_BUILD_BASE_IMAGE}
\`\`\``,
  text: (p: { name: string; variable: string; other: string | undefined }) => ({
    message: `\`${p.variable}\` is not set when \`${p.name}\` is built`,
    hint: p.other === undefined ? undefined : `add \`${p.other}\` to \`depends_on\``,
  }),
})
const badCache = diagnostic({
  code: 'manifest/build-cache',
  severity: 'error',
  explain:
    'An item of `cache_from` or `export_cache` is an image, or a cache as `type=TYPE,KEY=VALUE,…` (https://docs.docker.com/build/cache/backends/).',
  text: (p: { key: string; value: string; reason: string; hint: string | undefined }) => ({
    message: `\`${p.key}\` is \`${p.value}\`: ${p.reason}`,
    hint: p.hint,
  }),
})

/** Reads `build`: images by name. Checks the references between them. */
export function readBuilds(tree: Tree | undefined, reading: Reading): ReadonlyMap<string, ImageBuild> {
  const distinct = new Distinct(reading.reporter)
  const names = new Map<string, string>()
  for (const [written, { key }] of entries(tree)) {
    const name = readName(written, key, 'the image', distinct, reading)
    if (name !== undefined) names.set(written, name)
  }
  const builds = new Map<string, ImageBuild>()
  for (const [written, name] of names) builds.set(name, readBuild(name, entry(tree, written)!, { names, reading }))
  const images = new Map<string, ImageBuild>()
  for (const build of builds.values()) {
    const { image } = build
    const other = image && images.get(image.value)
    if (other)
      reading.reporter.report(sameImage, image.span, { image: image.value, other: other.name }, [
        { span: other.image!.span, message: 'the other one is here' },
      ])
    else if (image) images.set(image.value, build)
  }
  checkOrder(builds, new Set(entries(tree).keys()), reading)
  for (const [written, name] of names) {
    const build = builds.get(name)!
    checkVariables(build, get(tree, written), builds, reading)
    checkCaches(build, reading)
  }
  return builds
}

interface ReadingBuilds {
  /** Names of the images as DNS labels. The keys are the names in the manifest. */
  readonly names: ReadonlyMap<string, string>
  readonly reading: Reading
}

function readBuild(name: string, { key, value }: Entry, { names, reading }: ReadingBuilds): ImageBuild {
  const text = (field: string) => known(value, field)
  const image = text('image')
  const fields = {
    dockerfile: text('dockerfile'),
    target: text('target'),
    image: image && !isLate(image.value) ? readImage(get(value, 'image'), ['build', name, 'image'], reading) : image,
  }
  return {
    name,
    span: key,
    context: (isMap(value) ? text('context') : known(value)) ?? { value: '.', span: key },
    ...present(fields),
    args: readPairs(get(value, 'args'), reading),
    cacheFrom: texts(get(value, 'cache_from')),
    exportCache: texts(get(value, 'export_cache')),
    secrets: [...entries(value, 'secrets')].flatMap(([id, at]) => readSecret(id, at, reading) ?? []),
    dependsOn: texts(get(value, 'depends_on')).map(one => ({ ...one, value: names.get(one.value) ?? one.value })),
  }
}

function readSecret(id: string, { key, value }: Entry, reading: Reading): BuildSecret | undefined {
  if (!isMap(value)) {
    const path = known(value)
    return path && { id, from: 'file', source: path }
  }
  const file = entry(value, 'file')
  const env = entry(value, 'env')
  if (Boolean(file) === Boolean(env)) {
    // An unknown key is probably a misspelled `file` or `env`, and has already been reported.
    if (file || value.entries.size === 0) reading.reporter.report(secretSource, key, { id, both: Boolean(file) })
    return undefined
  }
  const source = known((file ?? env)!.value)
  if (!source || file) return source && { id, from: 'file', source }
  reportToken(source.value, source.span, reading.reporter)
  const variable = reading.lookup(source.value)
  return { id, from: 'env', source, ...(variable && { value: variable.value }) }
}

const PARTS = ['REGISTRY', 'REPOSITORY', 'IMAGE', 'TAG', 'SHA']

/**
 * True if a variable belongs to an image. Compares full names, because the variables of `api-v2` begin like the
 * variables of `api`.
 */
const isOf = (image: string, variable: string): boolean =>
  PARTS.some(part => variable === `DEVCTL_BUILD_${toVariableName(image)}_${part}`)

/**
 * Checks that a build refers only to variables of images in `depends_on`, because only those images are built before
 * it.
 */
function checkVariables(
  { name, dependsOn }: ImageBuild,
  tree: Tree | undefined,
  builds: ReadonlyMap<string, ImageBuild>,
  { reporter }: Reading,
): void {
  for (const { variable, span } of lateVariables(tree)) {
    if (!variable.startsWith('DEVCTL_BUILD_') || dependsOn.some(({ value }) => isOf(value, variable))) continue
    const other = [...builds.keys()].find(one => one !== name && isOf(one, variable))
    reporter.report(unknownVariable, span, { name, variable, other })
  }
}

function checkCaches({ cacheFrom, exportCache }: ImageBuild, { reporter }: Reading): void {
  const check = (key: string, { value, span }: At<string>, use: 'from' | 'to') => {
    const result = isLate(value) ? undefined : parseBuildCaches(value, use)
    if (result?.ok === false) reporter.report(badCache, span, { key, value, reason: result.reason, hint: result.hint })
  }
  for (const one of cacheFrom) check('cache_from', one, 'from')
  for (const one of exportCache) check('export_cache', one, 'to')
}

/** Reports images in `depends_on` that do not exist, and images that depend on each other in a cycle. */
export function checkOrder(
  builds: ReadonlyMap<string, ImageBuild>,
  written: ReadonlySet<string>,
  { reporter }: Pick<Reading, 'reporter'>,
): void {
  const done = new Set<string>()
  const visit = (build: ImageBuild, path: readonly string[]): void => {
    if (done.has(build.name)) return
    for (const { value: name, span } of build.dependsOn) {
      const next = builds.get(name)
      if (!next) {
        if (!written.has(name)) reporter.report(unknownBuild, span, { name, hint: didYouMean(name, builds.keys()) })
        continue
      }
      const chain = [...path, build.name]
      const from = chain.indexOf(name)
      if (from >= 0) reporter.report(buildCircle, span, { names: [...chain.slice(from), name] })
      else visit(next, chain)
    }
    done.add(build.name)
  }
  for (const build of builds.values()) visit(build, [])
}

/** Returns only the fields that are set, because an absent field differs from an undefined one. */
export function present<T extends Readonly<Record<string, At<string> | undefined>>>(
  fields: T,
): { readonly [K in keyof T]?: At<string> } {
  // The filter has removed the undefined fields.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof T]?: At<string>
  }
}
