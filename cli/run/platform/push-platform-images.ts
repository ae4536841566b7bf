import { failureSummary } from '../../../compiler/diagnostics/render/summary.ts'
import type { PlatformImagesInput } from '../../../operations/platform/build-platform-images.ts'
import type { Context } from '../../command.ts'
import { toTerminal } from '../../terminal/operation-events.ts'
import { startProgress } from '../../terminal/progress/progress.ts'

/**
 * Builds and pushes the images that the registry lacks, and shows the progress. Returns the references with digests, by
 * name; undefined if an image could not be built, which was reported.
 */
export async function pushPlatformImages(
  context: Context,
  input: PlatformImagesInput,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | undefined> {
  const { io, logLevel } = context
  const { buildPlatformImages } = await import('../../../operations/platform/build-platform-images.ts')
  const progress = await startProgress(io, logLevel, 'text', () => Date.now())
  try {
    const world = { workspace: io, signal, on: toTerminal(context, progress, 'text') }
    const outcome = await buildPlatformImages(world, input)
    progress.pause()
    if (outcome.kind === 'built') return outcome.images
    io.stderr.write(`${failureSummary(outcome.diagnostics)}\n`)
    return undefined
  } finally {
    progress.pause()
  }
}
