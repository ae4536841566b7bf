import { basename, relative, resolve, sep } from 'node:path'
import { isStream } from '../../../compiler/values/stream-path.ts'
import type { LoadInput } from '../../../project/input.ts'
import { repositoryOf } from '../../../project/names/environment-name.ts'

/** The folder that a command was run in, and the one that it is to be run in again; absolute. */
interface Places {
  readonly cwd: string
  readonly directory: string
}

/**
 * Options with their paths as in `directory`, the folder of the project: they are the same wherever the checkout is,
 * and whichever of its folders the command was run in. Of what is outside of the checkout only the name counts.
 */
export function asWritten<Options extends LoadInput>(options: Options, { cwd, directory }: Places): Options {
  const top = repositoryOf(directory)?.top ?? directory
  const written = (path: string): string => {
    if (path === '' || isStream(path)) return path
    const place = resolve(cwd, path)
    if (relative(top, place).split(sep)[0] === '..') return basename(place)
    return relative(directory, place).split(sep).join('/') || '.'
  }
  const { file, envFile, projectDirectory } = options
  return {
    ...options,
    ...(file && { file: file.map(written) }),
    ...(envFile && { envFile: envFile.map(written) }),
    ...(projectDirectory !== undefined && { projectDirectory: written(projectDirectory) }),
  }
}
