import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { failureSummary, plural } from '../../compiler/diagnostics/render/summary.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { jsonText } from '../../compiler/values/printable.ts'
import type { BuildOutcome } from '../../operations/build/build.ts'
import type { ImagesInput } from '../../operations/build/input.ts'
import type { Context } from '../command.ts'
import type { SecretOption } from '../options/build.ts'
import type { LoadingValues } from '../options/project.ts'
import type { BuildForm } from '../terminal/build-progress/display.ts'
import type { Io } from '../terminal/io.ts'
import { toTerminal } from '../terminal/operation-events.ts'
import { startProgress } from '../terminal/progress/progress.ts'
import { printSummary } from '../terminal/report.ts'
import { withDeadline } from './deadline.ts'

export interface BuildValues extends LoadingValues {
  readonly name: string | undefined
  readonly registry: string | undefined
  readonly tag: string | undefined
  readonly context: string | undefined
  readonly cache: boolean
  readonly buildArg: Readonly<Record<string, string | undefined>> | undefined
  readonly secret: readonly SecretOption[] | undefined
  readonly target: string | undefined
  readonly platform: readonly string[] | undefined
  readonly cacheFrom: readonly string[] | undefined
  readonly exportCache: string | undefined
  readonly progress: BuildForm
  readonly metadataFile: string | undefined
  readonly timeout: number | undefined
}

/** Milliseconds: base images are pulled, and dependencies downloaded. */
const TIMEOUT = 30 * 60_000

/** Builds the images of services, and pushes them. */
export async function buildImagesOf(
  context: Context,
  services: readonly string[],
  options: BuildValues,
): Promise<number> {
  const { io, logLevel } = context
  const hint = 'wait longer with `--timeout`; what was built stays in the cache of the builder'
  return withDeadline(io, { timeout: options.timeout, fallback: TIMEOUT, hint }, async signal => {
    const { build } = await import('../../operations/build/build.ts')
    const progress = await startProgress(io, logLevel, 'text', () => Date.now(), options.progress)
    try {
      const outcome = await build(
        { workspace: io, signal, on: toTerminal(context, progress, 'text') },
        inputOf(io, services, options),
      )
      progress.pause()
      if (outcome.kind === 'built') await writeMetadata(io, options.metadataFile, outcome.images)
      return print(context, outcome)
    } finally {
      progress.pause()
    }
  })
}

function print({ io, logLevel }: Context, outcome: BuildOutcome): number {
  if (outcome.kind !== 'built') {
    io.stderr.write(`${failureSummary(outcome.diagnostics)}\n`)
    return 1
  }
  for (const [service, reference] of outcome.images) io.stdout.write(`${service}: ${reference}\n`)
  printSummary(`${plural(outcome.images.size, 'image')} in the registry`, io, logLevel)
  return 0
}

function inputOf(
  { env, cwd }: Io,
  services: readonly string[],
  { buildArg, secret, target, platform, cacheFrom, exportCache, cache, ...options }: BuildValues,
): ImagesInput {
  const registry = (ref: string) => ({ type: 'registry', attributes: { ref } })
  return {
    ...options,
    services,
    noCache: !cache,
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
    ...(cacheFrom && { cacheFrom: cacheFrom.map(registry) }),
    ...(exportCache !== undefined && { exportCache }),
  }
}

function secretSource({ id, file, variable }: SecretOption, env: Io['env'], cwd: string) {
  if (file !== undefined) return { file: resolve(cwd, file.replace(/^~(?=\/)/, env.HOME ?? '~')) }
  const value = env[variable ?? id]
  if (value !== undefined) return { value }
  if (variable === undefined) return { file: resolve(cwd, id) }
  throw new UserError(`\`--secret\` reads the variable \`${variable}\`, which is not set`, {
    hint: 'set it, or name a file: `id=ID,src=PATH`',
  })
}

/** The form of `docker buildx bake --metadata-file`, which `--images-file` reads. */
async function writeMetadata(
  { cwd }: Io,
  path: string | undefined,
  images: ReadonlyMap<string, string>,
): Promise<void> {
  if (path === undefined) return
  const entries = [...images].map(([service, reference]) => {
    const [name, digest] = reference.split('@')
    return [service, { 'image.name': name, ...(digest && { 'containerimage.digest': digest }) }]
  })
  try {
    await writeFile(resolve(cwd, path), `${jsonText(Object.fromEntries(entries), 2)}\n`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // node:fs throws nothing else
    throw new UserError(`cannot write \`${path}\`: ${code}`)
  }
}
