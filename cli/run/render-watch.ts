import { dirname, join, relative, resolve } from 'node:path'
import { ReadFiles } from '../../adapters/files/watch-files.ts'
import { failureSummary } from '../../compiler/diagnostics/render/summary.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isStream } from '../../compiler/values/stream-path.ts'
import { render } from '../../operations/render/render.ts'
import { MANIFEST_NAMES, nearestManifests } from '../../project/names/nearest-manifests.ts'
import { openProject } from '../../project/open-project.ts'
import { namedEnvFiles, namedFiles } from '../../project/project-folder.ts'
import type { Context } from '../command.ts'
import type { RenderValues } from '../commands/render.ts'
import { errorText } from '../terminal/error-text.ts'
import { INTERRUPTED } from '../terminal/exit-status.ts'
import { watchForInterruption } from '../terminal/interruption.ts'
import { printDiagnostics, printSummary } from '../terminal/report.ts'
import { renderInput } from './render-input.ts'

/**
 * Matches the names of files that devctl finds without an option. A new file with such a name may change the result.
 */
const INPUT = /^(\.env|((docker-)?compose.*|okteto-(stack|compose)|devctl)\.ya?ml)$/

/**
 * Renders the files, and renders them again whenever a file that was read changes, until Ctrl-C. Prints a line for each
 * change. After an error, prints the error and waits for the next change.
 */
export async function renderOnChanges(
  context: Context,
  services: readonly string[],
  options: RenderValues,
  watching: { readonly signal: AbortSignal; readonly stop: () => void } = watchForInterruption(),
): Promise<number> {
  const { io, logLevel } = context
  let files = await renderOnce(context, services, options)
  printSummary('watching for changes; Ctrl-C ends', io, logLevel)
  try {
    for (;;) {
      const changed = await files.nextChange(name => INPUT.test(name), watching.signal)
      files = await renderOnce(context, services, options, { files, changed: relative(io.cwd, changed) })
    }
  } catch (error) {
    if (watching.signal.aborted) return INTERRUPTED
    throw error
  } finally {
    watching.stop()
  }
}

/** Renders, and prints the result. Returns the files that were read, also after an error. */
async function renderOnce(
  { io, logLevel }: Context,
  services: readonly string[],
  options: RenderValues,
  last?: { readonly files: ReadFiles; readonly changed: string },
): Promise<ReadFiles> {
  const files = new ReadFiles(last?.files)
  const prefix = last ? `${last.changed} changed: ` : ''
  try {
    // A run that fails early may not read these, but a change of one of them may repair it.
    for (const path of soughtFiles(io, options)) files.read(path)
    const project = await openProject(io, options)
    const onRead = (path: string, bytes: Uint8Array) => files.add(path, bytes)
    const onMissing = (path: string) => files.addMissing(path)
    const outcome = await render({ workspace: io, onRead, onMissing }, renderInput(services, options), project)
    // Warnings are printed once: after a change, only errors are new.
    if (outcome.kind === 'refused' || !last) printDiagnostics(outcome.diagnostics, io, logLevel)
    if (outcome.kind === 'refused')
      io.stderr.write(`${prefix}${failureSummary(outcome.diagnostics, 'nothing was rendered')}\n`)
    else {
      const { written, removed, unchanged } = outcome.written!
      const counts = `${written} written, ${removed} removed, ${unchanged} unchanged`
      printSummary(`${prefix}${counts} in ${options.outputDir}`, io, logLevel)
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    io.stderr.write(prefix + errorText(error))
  }
  return files
}

/**
 * Returns the absolute paths of the files that a run reads first, if they exist: the files that options and variables
 * name, and manifests.
 */
function soughtFiles(io: Context['io'], options: RenderValues): readonly string[] {
  const given = [...namedFiles(io, options), ...(namedEnvFiles(io, options) ?? [])]
  const first = options.file?.find(path => !isStream(path))
  const folder = first === undefined ? io.cwd : dirname(resolve(io.cwd, first))
  return [
    ...given.filter(path => !isStream(path)).map(path => resolve(io.cwd, path)),
    ...MANIFEST_NAMES.map(name => join(folder, name)),
    ...(nearestManifests(folder, options.file !== undefined) ?? []),
  ]
}
