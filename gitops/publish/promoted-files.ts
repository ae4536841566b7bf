import { existsSync } from 'node:fs'
import { join, sep } from 'node:path'
import { readFile } from '../../adapters/files/read-file.ts'
import type { GitOptions } from '../../adapters/git/git.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { CompiledProject } from '../../project/compile-files.ts'
import { pathInside } from '../../project/path-inside.ts'
import { ignoredFiles } from '../repository/source.ts'
import type { SourceAt } from '../repository/source-at.ts'

/** Promotion whose files are checked. */
interface PromotedFiles {
  /** Files of the promoted commit. */
  readonly at: SourceAt
  /** Top folder of the user's checkout. */
  readonly top: string
  /** Key of the environment to promote to. */
  readonly to: string
  readonly commit: string
}

/**
 * Throws a UserError if a file among `used` (absolute paths) is not in the clone of the commit as it is in the user's
 * checkout with the top folder `top`.
 */
export function refuseOtherFiles(used: ReadonlySet<string>, { at, top, to, commit }: PromotedFiles): void {
  const hint = `check ${commit.slice(0, 7)} out, and publish it with the same images: \`devctl publish --environment ${to} --image …\``
  for (const path of used) {
    const here = pathInside(at.top, path)?.split(sep).join('/')
    if (here === undefined) {
      if (pathInside(top, path) === undefined) continue
      throw new UserError(`\`${path}\` is a file of this checkout, and may differ from that of the commit`, {
        hint: 'name it relative to the Compose file, or with `${PWD}`',
      })
    }
    const submodule = at.submodules.find(one => here === one || here.startsWith(`${one}/`))
    if (submodule !== undefined)
      throw new UserError(
        `\`${here}\` is in the submodule \`${submodule}\`, and \`promote\` checks out no submodules`,
        { hint },
      )
    const filter = at.unfiltered.get(here)
    if (filter !== undefined)
      throw new UserError(
        `\`${here}\` is stored in another form, which the filter \`${filter}\` of this repository makes readable`,
        { hint: filter === 'lfs' ? '`git lfs install` without `--local` lets `promote` use it' : hint },
      )
  }
}

/**
 * Returns the contents of the files of secrets (`secrets.X.file`) that git ignores in the checkout with the top folder
 * `top`, so that no commit has them. The keys are their paths from there.
 */
export async function uncommittedSecrets(
  compiled: CompiledProject | undefined,
  { top, clone, ...options }: GitOptions & { readonly top: string; readonly clone: string },
): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = [...(compiled?.project?.secrets.values() ?? [])].flatMap(({ source }) =>
    source?.kind === 'file' ? (pathInside(clone, source.path.value) ?? []) : [],
  )
  const lacking = files.filter(path => !existsSync(join(clone, path))).map(path => join(top, path))
  const found = new Map<string, Uint8Array>()
  for (const path of await ignoredFiles(top, lacking, options)) {
    const content = readFile(join(top, path))
    if (content.kind === 'file') found.set(path, content.bytes)
  }
  return found
}
