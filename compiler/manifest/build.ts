import { entries } from '../compose/read/tree-values.ts'
import { circle } from '../diagnostics/circle.ts'
import { diagnostic } from '../diagnostics/diagnostic.ts'
import { didYouMean } from '../diagnostics/suggest.ts'
import type { At } from '../text/source.ts'
import { type Entry, entry, get, isMap, type Tree } from '../text/tree.ts'
import { Distinct } from './duplicates.ts'
import type { BuildSecret, ImageBuild } from './manifest.ts'
import { readName } from './names.ts'
import { known, type Reading, readPairs, texts } from './values.ts'

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
  explain: 'Images depend on each other in a cycle, so none of them can be built first. Remove one `depends_on`.',
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

/** `build`: images by name. References among them are checked. */
export function readBuilds(tree: Tree | undefined, reading: Reading): ReadonlyMap<string, ImageBuild> {
  const builds = new Map<string, ImageBuild>()
  const distinct = new Distinct(reading.reporter)
  for (const [written, at] of entries(tree)) {
    const name = readName(written, at.key, 'the image', distinct, reading)
    if (name !== undefined) builds.set(name, readBuild(name, at, reading))
  }
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
  return builds
}

function readBuild(name: string, { key, value }: Entry, reading: Reading): ImageBuild {
  const text = (field: string) => known(value, field)
  const fields = {
    dockerfile: text('dockerfile'),
    target: text('target'),
    image: text('image'),
    exportCache: text('export_cache'),
  }
  return {
    name,
    span: key,
    context: (isMap(value) ? text('context') : known(value)) ?? { value: '.', span: key },
    ...present(fields),
    args: readPairs(get(value, 'args'), reading),
    cacheFrom: texts(get(value, 'cache_from')),
    secrets: [...entries(value, 'secrets')].flatMap(([id, at]) => readSecret(id, at, reading) ?? []),
    dependsOn: texts(get(value, 'depends_on')),
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
    // An unknown key is most likely one of the two, misspelt: that was reported.
    if (file || value.entries.size === 0) reading.reporter.report(secretSource, key, { id, both: Boolean(file) })
    return undefined
  }
  const source = known((file ?? env)!.value)
  return source && { id, from: file ? 'file' : 'env', source }
}

function checkOrder(
  builds: ReadonlyMap<string, ImageBuild>,
  written: ReadonlySet<string>,
  { reporter }: Reading,
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

/** Only the fields that are there: an absent one and an undefined one are two things. */
export function present<T extends Readonly<Record<string, At<string> | undefined>>>(
  fields: T,
): { readonly [K in keyof T]?: At<string> } {
  // The undefined ones are filtered out.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof T]?: At<string>
  }
}
