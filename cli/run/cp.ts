import { plural } from '../../compiler/diagnostics/render/summary.ts'
import type { Context } from '../command.ts'
import type { CopyValues } from '../commands/cp.ts'
import { printSummary, printsDiagnostics } from '../terminal/report.ts'
import { withProject } from './project-session.ts'

/** Copies files between this machine and a container of a deployed service. */
export async function copyFiles(
  context: Context,
  paths: { readonly source: string; readonly target: string },
  options: CopyValues,
): Promise<number> {
  const { parseCopyPaths } = await import('../../containers/copy/copy-path.ts')
  parseCopyPaths(paths.source, paths.target)
  const endless = { ...options, var: undefined, timeout: undefined, isEndless: true }
  return withProject(context, endless, async (own, project, session) => {
    const { copy } = await import('../../containers/copy/copy.ts')
    const world = { workspace: own.io, session, on: printsDiagnostics(own) }
    const { pod, files, bytes } = await copy(world, { ...options, ...paths }, project)
    const { source, target } = paths
    printSummary(
      `copied ${plural(files, 'file')}, ${sizeText(bytes)}, from ${source} to ${target} (pod/${pod})`,
      own.io,
      own.logLevel,
    )
    return 0
  })
}

/** Formats a number of bytes: `17 bytes`, `1.5 MiB`. */
function sizeText(bytes: number): string {
  if (bytes < 1024) return plural(bytes, 'byte')
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length, Math.floor(Math.log2(bytes) / 10))
  return `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1]}`
}
