import { basename, relative, resolve, sep } from 'node:path'
import { isStream } from '../../../compiler/values/stream-path.ts'
import type { LoadInput } from '../../../project/input.ts'
import { sourceRepository } from '../../../project/names/environment-name.ts'
import { pathInside } from '../../../project/path-inside.ts'

/** Absolute paths of the folder in which a command was run, and of the folder in which it should be run again. */
interface Places {
  readonly cwd: string
  readonly directory: string
}

/**
 * Returns the options with paths relative to `directory`, the project folder, so that the paths depend neither on the
 * location of the checkout nor on the folder in which the command was run. Of a path outside the checkout, only the
 * file name is kept.
 */
export function asWritten<Options extends LoadInput>(options: Options, { cwd, directory }: Places): Options {
  const { top } = sourceRepository(directory) ?? { top: directory }
  const inTop = pathInside(top, directory) ?? ''
  const written = (path: string): string => {
    if (path === '' || isStream(path)) return path
    const place = resolve(cwd, path)
    const inside = pathInside(top, place)
    if (inside === undefined) return basename(place)
    return relative(inTop, inside).split(sep).join('/') || '.'
  }
  const { file, envFile, projectDirectory } = options
  return {
    ...options,
    ...(file && { file: file.map(written) }),
    ...(envFile && { envFile: envFile.map(written) }),
    ...(projectDirectory !== undefined && { projectDirectory: written(projectDirectory) }),
  }
}
