import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { count, failureSummary } from '../compiler/diagnostics/render/summary.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { Context } from './command.ts'
import { compileFiles } from './compile-files.ts'
import type { DeployingValues } from './deploy-options.ts'
import type { Compared } from './diff-application.ts'
import { objectsOf } from './manifest-files.ts'
import { objectChanges } from './publish/object-changes.ts'
import { printDiagnostics } from './report.ts'

/** Compares what `render` would print with the manifests at a path, without a cluster. Undefined after errors, which are printed. Throws a UserError for a path without manifests. */
export async function diffAgainst(
  { io, logLevel }: Context,
  options: DeployingValues,
  path: string,
): Promise<Compared | undefined> {
  const { plan, diagnostics } = await compileFiles(io, [], options, options)
  printDiagnostics(diagnostics, io, logLevel)
  if (!plan) {
    if (count(diagnostics).error > 0) io.stderr.write(`${failureSummary(diagnostics, 'nothing was compared')}\n`)
    return undefined
  }
  const before = await objectsOf(readTexts(resolve(io.cwd, path), path))
  if (before.length === 0) throw new UserError(`there are no manifests in \`${path}\``, { hint: HINT })
  const { toManifests } = await import('../constructs/index.ts')
  const wanted = toManifests(plan)
  const diffs = objectChanges(before, wanted)
  return { diffs, unchanged: wanted.length - diffs.filter(({ action }) => action !== 'delete').length }
}

const HINT = 'name a folder or file that `devctl render` wrote'

/** The texts of a file, or of the files of a folder and those below it. */
function readTexts(path: string, shown: string): ReadonlyMap<string, string> {
  try {
    const files = statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true, encoding: 'utf8' })
          .filter(file => /\.(ya?ml|json)$/.test(file))
          .sort()
          .map(file => join(path, file))
      : [path]
    return new Map(files.map(file => [file, readFileSync(file, 'utf8')]))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // only node:fs throws here
    throw new UserError(`cannot read \`${shown}\`: ${code}`, { hint: HINT })
  }
}
