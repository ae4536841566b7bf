import { resolve } from 'node:path'
import { replaceFile, requireRegular } from '../../adapters/files/replace-file.ts'
import { statIfFound } from '../../adapters/files/stat-if-found.ts'
import type { BuildOutcome } from '../../builds/build-outcome.ts'
import type { BuildEvent } from '../../builds/events.ts'
import { isDockerfile } from '../../builds/is-dockerfile.ts'
import type { BuildSettings } from '../../builds/plan/image-input.ts'
import { onThisMachine } from '../../compiler/compose/build-files.ts'
import { failureSummary, plural } from '../../compiler/diagnostics/render/summary.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { type BuildCache, parseBuildCaches } from '../../compiler/values/images/build-cache.ts'
import { isPinned, parseImageReference } from '../../compiler/values/images/image-reference.ts'
import { jsonText } from '../../compiler/values/printable.ts'
import type { LocalContext } from '../../project/session.ts'
import type { Context } from '../command.ts'
import type { BuildValues } from '../commands/build.ts'
import type { SecretOption } from '../options/build.ts'
import { imageTag } from '../options/project.ts'
import { drawsOn, type Io } from '../terminal/io.ts'
import { toTerminal } from '../terminal/operation-events.ts'
import { type ProgressForm, startProgress } from '../terminal/progress/progress.ts'
import { printSummary } from '../terminal/report.ts'
import { buildAsJson, writeInterrupted, writeResult } from './build-as-json.ts'
import { withDeadline } from './deadline.ts'

const NOT_PUSHED = 'built and not pushed'

/** Default timeout in milliseconds: pulling base images and downloading dependencies can take a long time. */
const TIMEOUT = 30 * 60_000

/** Builds the images of services, and pushes them. */
export async function buildImagesOf(
  context: Context,
  services: readonly string[],
  options: BuildValues,
): Promise<number> {
  const { io } = context
  const hint = 'wait longer with `--timeout`; what was built stays in the cache of the builder'
  const onInterrupt = options.progress === 'json' ? () => writeInterrupted(context) : undefined
  const limit = { timeout: options.timeout, fallback: TIMEOUT, hint, ...(onInterrupt && { onInterrupt }) }
  const run = (shown: Context) =>
    withDeadline(io, limit, signal => buildAndPrint(context, shown, signal, services, options))
  return options.progress === 'json' ? buildAsJson(context, run) : run(context)
}

/** Builds the images and prints the result. `shown` is the context for progress and diagnostics. */
async function buildAndPrint(
  context: Context,
  shown: Context,
  signal: AbortSignal,
  services: readonly string[],
  options: BuildValues,
): Promise<number> {
  const { io } = context
  const dockerfile = dockerfileOf(io, options)
  if (!dockerfile) checkTags(options.tag ?? [])
  // A build may take long, so the file is checked before it, too.
  if (options.metadataFile !== undefined) await requireMetadataFile(io.cwd, options.metadataFile)
  const form = options.progress === 'json' ? 'json' : 'text'
  const progress = await startProgress(shown.io, shown.logLevel, form, () => Date.now(), options.progress)
  try {
    const world = { workspace: io, signal, on: toTerminal(shown, progress, form) }
    const outcome = await (dockerfile
      ? buildOne(world, io, dockerfile, services, options)
      : buildServices(world, io, services, options))
    progress.pause()
    if (outcome.kind === 'built') await writeMetadata(world, options.metadataFile, outcome.images)
    const needsTag = dockerfile !== undefined && options.push === 'true'
    return print(context, options, outcome, needsTag)
  } finally {
    progress.pause()
  }
}

/**
 * Throws a UsageError for an invalid tag, and for a second tag: only an image of a standalone Dockerfile can have
 * several tags on the command line, images of services cannot.
 */
function checkTags(tags: readonly string[]): void {
  const [tag, another] = tags
  if (tag !== undefined) imageTag(tag, '--tag')
  if (another === undefined) return
  throw new UsageError('`--tag` is given twice', {
    hint: 'the images of services have one tag; list further names under `tags` of `build`',
  })
}

async function buildServices(
  world: LocalContext<BuildEvent>,
  io: Io,
  services: readonly string[],
  options: BuildValues,
) {
  const { build } = await import('../../builds/build.ts')
  const {
    tag: [tag] = [],
    registry,
    name,
    context,
    file,
    projectDirectory,
    envFile,
    profile,
    allowOutside,
    environment,
  } = options
  const loading = { file, projectDirectory, envFile, profile, allowOutside, environment }
  return build(world, { ...settingsOf(io, options), ...loading, tag, registry, name, context, services })
}

async function buildOne(
  world: LocalContext<BuildEvent>,
  io: Io,
  dockerfile: string,
  words: readonly string[],
  options: BuildValues,
): Promise<BuildOutcome> {
  const [context = '.', ...others] = words
  refuseOthers(options)
  if (others.length > 0)
    throw new UsageError('a Dockerfile has one context', { hint: '`devctl build -f Dockerfile [context]`' })
  const { buildDockerfile } = await import('../../builds/build-dockerfile.ts')
  const { isNoPath } = await import('../../compiler/values/images/build-context.ts')
  const names = [...new Set((options.tag ?? []).map(imageName))]
  const at = isNoPath(context) ? context : resolve(io.cwd, context)
  return buildDockerfile(world, {
    ...settingsOf(io, options),
    dockerfile,
    context: at,
    names,
    devctlContext: options.context,
  })
}

/**
 * Throws a UsageError for options that have no effect on the build of a standalone Dockerfile, such as options that
 * select services.
 */
function refuseOthers(options: BuildValues): void {
  const given = {
    '--environment': options.environment,
    '--env-file': options.envFile,
    '--name': options.name,
    '--profile': options.profile,
    '--project-directory': options.projectDirectory,
    '--registry': options.registry,
  }
  for (const [option, value] of Object.entries(given))
    if (value !== undefined)
      throw new UsageError(`\`${option}\` has no effect on the build of a Dockerfile`, {
        hint: 'remove it; `--tag REGISTRY/NAME:TAG` is the whole name of the image',
      })
}

/** Returns the Dockerfile that `-f` names; undefined if it names another kind of file. */
function dockerfileOf({ cwd }: Io, { file }: BuildValues): string | undefined {
  const [only] = file?.length === 1 ? file : []
  if (only === undefined || only === '-') return undefined
  const path = resolve(cwd, only)
  return isDockerfile(path) ? path : undefined
}

function imageName(tag: string): string {
  const { name, tag: version } = referenceOf(tag)
  return version === undefined ? `${name}:latest` : tag
}

function referenceOf(text: string) {
  const parsed = parseImageReference(text)
  if (parsed.ok && parsed.value.digest === undefined) return parsed.value
  throw new UsageError(`\`--tag\` is \`${text}\`, which is not the name of an image`, {
    hint: 'write it as `REGISTRY/NAME:TAG`',
  })
}

/**
 * Prints the outcome of a build. `needsTag` is true if a missing name is the only reason why the image was not pushed.
 */
function print(
  context: Context,
  { progress, output }: Pick<BuildValues, 'progress' | 'output'>,
  outcome: BuildOutcome,
  needsTag: boolean,
): number {
  const { io, logLevel } = context
  const form: ProgressForm = progress === 'json' ? 'json' : 'text'
  if (form === 'json') writeResult(context, outcome)
  if (outcome.kind !== 'built') {
    if (form === 'text') io.stderr.write(`${failureSummary(outcome.diagnostics)}\n`)
    return 1
  }
  const pushedImages = [...outcome.images].filter(([, reference]) => isPinned(reference))
  if (output === 'json') io.stdout.write(`${jsonText(Object.fromEntries(pushedImages), 2)}\n`)
  else if (output === 'name' || !showsReferences(context, progress))
    for (const [service, reference] of pushedImages)
      io.stdout.write(output === 'name' ? `${reference}\n` : `${service}: ${reference}\n`)
  if (form === 'json') return 0
  // Count each image once: several services may use it.
  const pushed = new Set(pushedImages.map(([, reference]) => reference)).size
  const notPushed = needsTag ? `${NOT_PUSHED}; \`--tag REGISTRY/NAME:TAG\` pushes it` : NOT_PUSHED
  printSummary(pushed > 0 ? `${plural(pushed, 'image')} in the registry` : notPushed, io, logLevel)
  return 0
}

/** True if a live display has printed the references of the images. The log level `error` leaves the display out. */
export const showsReferences = ({ io, logLevel }: Pick<Context, 'io' | 'logLevel'>, progress: string | undefined) =>
  logLevel !== 'error' && io.stdout.isTTY && drawsOn(io) && progress !== 'plain' && progress !== 'json'

function settingsOf(
  { env, cwd }: Io,
  { buildArg, secret, target, platform, cacheFrom, exportCache, cache, pull, push }: BuildValues,
): BuildSettings {
  const caches = (use: 'from' | 'to', items: readonly string[]) => items.flatMap(item => parsedCaches(use, item, cwd))
  return {
    noCache: !cache,
    pull,
    // `--push` without a value is true.
    push: push !== 'false',
    ...(target !== undefined && { target }),
    ...(platform && { platforms: platform.flatMap(one => one.split(',')) }),
    ...(buildArg && {
      args: new Map(
        Object.entries(buildArg).flatMap(([name, value]) => {
          const given = value ?? env[name]
          return given === undefined ? [] : [[name, given] as const]
        }),
      ),
    }),
    ...(secret && { secrets: new Map(secret.map(one => [one.id, secretSource(one, env, cwd)])) }),
    ...(cacheFrom && { cacheFrom: caches('from', cacheFrom) }),
    ...(exportCache !== undefined && {
      cacheExport: exportCache.includes('=')
        ? { cacheTo: caches('to', [exportCache]), exportCache: [] }
        : { cacheTo: [], exportCache: [exportCache] },
    }),
  }
}

/** Parses the value of `--cache-from` or `--export-cache`. Throws a UsageError if it is invalid. */
function parsedCaches(use: 'from' | 'to', text: string, directory: string): readonly BuildCache[] {
  const found = parseBuildCaches(text, use)
  if (found.ok) return found.value.map(one => onThisMachine(one, use === 'from' ? 'src' : 'dest', { directory }))
  const option = use === 'from' ? '--cache-from' : '--export-cache'
  const hint = found.hint === undefined ? {} : { hint: found.hint }
  throw new UsageError(`\`${option}\` with \`${text}\`: ${found.reason}`, hint)
}

function secretSource({ id, file, variable }: SecretOption, env: Io['env'], cwd: string) {
  if (file !== undefined) return secretFile(id, file, resolve(cwd, file.replace(/^~(?=\/)/, env.HOME ?? '~')))
  const value = env[variable ?? id]
  if (value !== undefined) return { value }
  if (variable === undefined) return secretFile(id, id, resolve(cwd, id))
  throw new UserError(`\`--secret\` reads the variable \`${variable}\`, which is not set`, {
    hint: 'set it, or name a file: `id=ID,src=PATH`',
  })
}

/**
 * Returns the file of a secret, which may be a pipe. Does not read it, because a pipe can be read only once, by the
 * build.
 */
function secretFile(id: string, written: string, file: string) {
  const found = statIfFound(file)
  if (found && !found.isDirectory()) return { file }
  throw new UserError(`\`--secret\` reads \`${id}\` from \`${written}\`, which is not a file`, {
    hint: 'write it as `id=ID,src=PATH` or `id=ID,env=NAME`',
  })
}

const requireMetadataFile = (cwd: string, path: string): Promise<void> =>
  requireRegular(resolve(cwd, path), path, 'the metadata')

/**
 * Writes the images in the format of `docker buildx bake --metadata-file`, which `--images-file` reads. Only pushed
 * images have a digest.
 */
async function writeMetadata(
  { workspace: { cwd }, on }: Pick<LocalContext, 'workspace' | 'on'>,
  path: string | undefined,
  images: ReadonlyMap<string, string>,
): Promise<void> {
  if (path === undefined) return
  const entries = [...images].flatMap(([service, reference]) => {
    const [name, digest] = reference.split('@')
    return digest === undefined ? [] : [[service, { 'image.name': name, 'containerimage.digest': digest }]]
  })
  if (entries.length === 0) {
    on({ type: 'warning', text: `no image was pushed, so none has a digest, and \`${path}\` is not written` })
    return
  }
  await requireMetadataFile(cwd, path)
  try {
    await replaceFile(resolve(cwd, path), `${jsonText(Object.fromEntries(entries), 2)}\n`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // node:fs throws nothing else
    throw new UserError(`cannot write \`${path}\`: ${code}`)
  }
}
