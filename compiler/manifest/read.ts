import { basename, dirname, join } from 'node:path/posix'
import { Sources } from '../compose/load/compose-files/sources.ts'
import { withinLimits } from '../compose/load/limits.ts'
import { VariableScope } from '../compose/load/variables.ts'
import { scalars, textOf } from '../compose/read/tree-values.ts'
import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { CompilerHost } from '../host.ts'
import { check } from '../schema/check.ts'
import { Findings } from '../schema/findings.ts'
import { parseYaml } from '../text/parse.ts'
import type { SecretPlaces } from '../text/secret-places.ts'
import type { SourceFile } from '../text/source.ts'
import type { Lookup } from '../text/template.ts'
import { entry, get, isMap, isNull, type MapTree } from '../text/tree.ts'
import { isStream } from '../values/stream-path.ts'
import { present, readBuilds } from './build.ts'
import { readDependencies } from './dependencies.ts'
import { readDeploy, readDestroy } from './deploy.ts'
import { readDevelopment } from './dev.ts'
import { readEnvironments, readRegistry } from './environments.ts'
import { readForwards } from './forward.ts'
import type { DevctlManifest } from './manifest.ts'
import { manifestMistakes } from './mistakes.ts'
import { isOktetoManifest, readOkteto } from './okteto.ts'
import { manifestShape } from './shape.ts'
import { known, type Reading } from './values.ts'
import { isOpen, substituteVariables, textsIn } from './variables.ts'

const empty = diagnostic({
  code: 'manifest/empty',
  severity: 'error',
  explain: `The manifest is empty. A minimal manifest names the Compose file or a command:

\`\`\`yaml
deploy:
  compose: compose.yaml
\`\`\`

A folder with a Compose file needs no manifest.`,
  text: (_: Record<never, never>) => ({
    message: 'the manifest is empty',
    hint: 'begin with `deploy:`, or remove the file: a Compose file needs no manifest',
  }),
})
const notAMapping = diagnostic({
  code: 'manifest/not-a-mapping',
  severity: 'error',
  explain: 'The top level of a manifest must be a mapping with keys such as `deploy`, not a list or a single value.',
  text: (p: { found: string }) => ({
    message: `the file contains ${p.found}; a manifest must be a mapping`,
    hint: 'begin with `deploy:`',
  }),
})
const severalDocuments = diagnostic({
  code: 'manifest/several-documents',
  severity: 'error',
  explain: 'A manifest is one YAML document. A line `---` begins another one, which would be ignored.',
  text: (_: Record<never, never>) => ({
    message: 'a second document begins here; a manifest has only one',
    hint: 'remove the `---`, or move the rest to another file',
  }),
})
const mergeTag = diagnostic({
  code: 'manifest/merge-tag',
  severity: 'error',
  explain:
    '`!reset` and `!override` drop a value of an earlier Compose file. A manifest is not merged with other files, so the tags have no effect.',
  text: (_: Record<never, never>) => ({
    message: '`!reset` and `!override` have no effect in a manifest',
    hint: 'remove the tag',
  }),
})

export interface ManifestOptions {
  /** Absolute path of the manifest, or `-` for standard input. */
  readonly path: string
  /** The folder that devctl runs in. Messages show paths relative to it. */
  readonly workingDirectory: string
  readonly stdin?: Uint8Array
  /** Absolute paths of env files that replace the `.env` file beside the manifest. */
  readonly envFiles?: readonly string[]
  /**
   * Name of the environment that `--environment` selects. Variables that only other entries of `environments` use need
   * not be set.
   */
  readonly environment?: string
  readonly strict?: boolean
}

export interface ReadManifest {
  /**
   * The manifest. Absent if the file could not be read at all. If there are errors in the diagnostics, the parts in
   * error are missing.
   */
  readonly manifest?: DevctlManifest
  readonly diagnostics: readonly Diagnostic[]
  /** The values that are secret because of their origin. Diagnostics may contain them. */
  readonly secrets?: SecretPlaces
}

/**
 * Reads a manifest: the YAML, its variables, its structure and its values. Reports every error. A value in error counts
 * as absent, but is not reported as missing.
 */
export function readManifest(options: ManifestOptions, host: CompilerHost): ReadManifest {
  return withinLimits(
    options,
    host,
    reporter => readWith(options, host, reporter),
    diagnostics => ({ diagnostics }),
  )
}

function readWith(options: ManifestOptions, host: CompilerHost, reporter: Reporter): ReadManifest {
  const sources = new Sources(host, options.workingDirectory, options.stdin)
  const file = sources.open(options.path, 'the manifest', reporter)
  const written = file && readTree(file, reporter)
  if (!file || !written) return { diagnostics: reporter.diagnostics() }
  reporter.registerFile(file.path)
  const folder = isStream(options.path) ? options.workingDirectory : manifestFolder(options.path)
  const dotenv = join(folder, '.env')
  const envFiles = options.envFiles ?? (host.stat(dotenv)?.kind === 'file' ? [dotenv] : [])
  const { lookup, secrets } = new VariableScope(host).withFiles(
    envFiles.map(path => ({ path })),
    sources,
    reporter,
  )
  const reading: Reading = { reporter, lookup, folder }
  const okteto = isOktetoManifest(options.path) ? readOkteto(written, options.path, reading) : undefined
  const tree = okteto?.tree ?? written
  // Unset variables of Okteto have been reported.
  const lookupAll: Lookup = name => lookup(name) ?? (okteto?.unset.has(name) ? EMPTY : undefined)
  const { tree: model, failed } = substituteVariables(tree, options.environment, lookupAll, reporter)
  secrets.addFrom(model)
  const findings = new Findings(manifestMistakes, { isUnresolved: isOpen, reported: failed })
  check(model, manifestShape, { path: [], keySpan: model.span }, findings)
  findings.report(reporter)
  const manifest = readModel(
    model,
    {
      path: options.path,
      shown: file.path,
      folder,
      variables: namedVariables(tree),
      ...(okteto && { dialect: 'okteto' as const }),
    },
    reading,
  )
  for (const build of manifest.build.values())
    for (const { value } of build.secrets) if (value !== undefined) secrets.addValue(value)
  return { manifest, diagnostics: reporter.diagnostics(), secrets }
}

/**
 * Returns the folder that paths in a manifest are relative to: the manifest's folder, or the parent of `.devctl` and
 * `.okteto`.
 */
export function manifestFolder(path: string): string {
  const folder = dirname(path)
  return ['.devctl', '.okteto'].includes(basename(folder)) ? dirname(folder) : folder
}

function readTree(file: SourceFile, reporter: Reporter): MapTree | undefined {
  const documents = parseYaml(file, reporter)
  if (!documents) return undefined
  const [first, second] = documents
  for (const { span } of first?.resets ?? []) reporter.report(mergeTag, span, {})
  if (second?.tree) reporter.report(severalDocuments, second.tree.span, {})
  const tree = first?.tree
  if (!tree || isNull(tree) || (isMap(tree) && tree.entries.size === 0)) {
    if (!reporter.hasErrors) reporter.report(empty, { file, start: 0, end: 0 }, {})
    return undefined
  }
  if (isMap(tree)) return tree
  reporter.report(notAMapping, tree.span, { found: tree.kind === 'seq' ? 'a list' : 'a single value' })
  return undefined
}

function readModel(
  tree: MapTree,
  file: Pick<DevctlManifest, 'path' | 'shown' | 'folder' | 'variables' | 'dialect'>,
  reading: Reading,
): DevctlManifest {
  const deploy = entry(tree, 'deploy')
  const destroy = entry(tree, 'destroy')
  return {
    ...file,
    ...present({
      name: known(tree, 'name'),
      namespace: known(tree, 'namespace'),
      context: known(tree, 'context'),
      domain: known(tree, 'domain'),
      registry: readRegistry(tree, ['registry'], reading),
    }),
    build: readBuilds(get(tree, 'build'), reading),
    ...(deploy && { deploy: readDeploy(deploy, reading) }),
    ...(destroy && { destroy: readDestroy(destroy) }),
    dev: readDevelopment(get(tree, 'dev'), reading),
    dependencies: readDependencies(get(tree, 'dependencies'), reading),
    forward: readForwards(get(tree, 'forward'), { path: ['forward'], toContainer: false }, reading),
    environments: readEnvironments(get(tree, 'environments'), reading),
  }
}

/**
 * Returns the names of the variables that a manifest lists in `variables` or refers to in its texts. Commands get no
 * other variables from the platform or the cluster. Other users of the platform or cluster could otherwise set
 * variables that make programs run code.
 */
function namedVariables(manifest: MapTree): ReadonlySet<string> {
  const listed = scalars(manifest, 'variables').map(one => textOf(one).value)
  const referred = [...textsIn(manifest)].flatMap(({ value }) =>
    [...value.matchAll(REFERENCES)].map(([, name]) => name!),
  )
  return new Set([...listed, ...referred])
}

const EMPTY = { value: '', origin: 'nowhere' }

/** Matches a variable as Compose or a shell refers to it: `$NAME`, `${NAME:-default}`, `${#NAME}`, `${!NAME}`. */
const REFERENCES = /\$(?:\{[#!]?)?([A-Za-z_][A-Za-z0-9_]*)/g
