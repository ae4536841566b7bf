import { relative } from 'node:path'
import { normalize } from 'node:path/posix'
import type { LoadInput } from '../../project/input.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { Workspace } from '../../project/workspace.ts'
import { IGNORE_FILE } from '../../sync/ignore/default-ignores.ts'
import { readIgnores } from '../../sync/scan/read-ignores.ts'
import { pathHere } from '../files/sync-folders.ts'
import { findDevelopment } from '../select/find-development.ts'

interface Folder {
  /** Path as the user knows it. */
  readonly written: string
  readonly path: string
}

/** Input to find the folders of a development container; `project` is an Error if it could not be opened. */
export interface IgnoresInput {
  readonly project: OpenProject | Error
  readonly dev: string | undefined
  readonly loading: LoadInput
}

/**
 * Returns the ignore files of the folders that a development container synchronizes, and the files that they include,
 * each as its name in the report and its text. Throws an Error if there are none.
 */
export async function ignoreFiles(
  workspace: Workspace,
  input: IgnoresInput,
): Promise<readonly (readonly [name: string, text: string])[]> {
  const folders = await foldersOf(workspace, input)
  const found = folders.flatMap(({ written, path }, at) =>
    Object.entries(readIgnores(path, process.platform)?.texts ?? {}).map(([name, text]) => {
      const inReport = name === IGNORE_FILE ? `ignore/${at}${name}` : `ignore/${at}/${normalize(name)}`
      return [inReport, `// ${written}\n${text}`] as const
    }),
  )
  if (found.length === 0) throw new Error('there is none: the rules without one apply')
  return found
}

async function foldersOf(workspace: Workspace, { project, dev, loading }: IgnoresInput): Promise<readonly Folder[]> {
  const { cwd, env } = workspace
  if (project instanceof Error || dev === undefined) return [{ written: '.', path: cwd }]
  const found = await findDevelopment({ workspace, on: () => {} }, { ...loading, dev }, project)
  const { development, folder, composeFolders } = found
  if (composeFolders) return composeFolders.map(({ local }) => ({ written: relative(cwd, local) || '.', path: local }))
  return (development.sync?.folders ?? []).map(({ local }) => ({ written: local, path: pathHere(local, folder, env) }))
}
