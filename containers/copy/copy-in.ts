import { createReadStream, type Stats } from 'node:fs'
import { lstat, realpath, stat } from 'node:fs/promises'
import { basename, posix } from 'node:path'
import { type TarCounts, writeTar } from '../../adapters/tar/write-tar.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isContentOf } from './copy-path.ts'
import { type CopiedContainer, lacksPrograms, requireSuccess, runThere, sendAll } from './remote.ts'

export interface CopyIn {
  /** Path on this machine as the user has written it; `path` is the absolute path. */
  readonly source: string
  readonly path: string
  /** Absolute path in the container. */
  readonly target: string
  /** Called with each file that cannot be copied, and the reason as a clause. */
  readonly skipped: (path: string, reason: string) => void
}

/**
 * Copies a file or folder of this machine into a container, with the container's `tar` or, for a single file, its
 * shell. The copied files belong to the user that the container runs as.
 */
export async function copyIn(at: CopiedContainer, { source, target, skipped, ...input }: CopyIn): Promise<TarCounts> {
  const { path, found, isContent } = await findSource(source, input.path)
  const { isThere, hasTar } = await askTarget(at, target)
  if (!isThere && target.endsWith('/') && !found.isDirectory())
    throw new UserError(`the folder \`${target}\` does not exist in container \`${at.container}\``, {
      hint: 'leave out the slash at the end to create a file of this name',
    })
  const folder = isThere ? target : posix.dirname(target)
  const name = !isThere ? posix.basename(target) : isContent ? '.' : basename(input.path)
  const counts: TarCounts = { files: 0, bytes: 0 }
  if (hasTar) {
    // `o` in an extraction: the files belong to the user who runs `tar`.
    const done = await runThere(at, ['tar', '-xopf', '-', '-C', folder], remote =>
      sendAll(writeTar(path, name, counts, skipped), remote),
    )
    if (!done) throw lacksPrograms(at.container, 'no `tar`')
    requireSuccess(done, `\`tar\` of container \`${at.container}\` reports errors in \`${folder}\``)
    return counts
  }
  if (!found.isFile())
    throw new UserError(`container \`${at.container}\` has no \`tar\`, which copying a folder or link needs`, {
      hint: 'copy single files, or add `tar` to the image',
    })
  return copyFileIn(at, path, posix.join(folder, name), found.mode & 0o777)
}

/**
 * Source of a copy: a file, a folder or a link. `isContent` is true if only the content of the folder is copied, and
 * not the folder itself.
 */
interface Source {
  readonly path: string
  readonly found: Stats
  readonly isContent: boolean
}

/**
 * Returns the source of a copy. As in Docker, `link/` and `link/.` name the folder that the link leads to. `path` is
 * the absolute path of the source. Throws a UserError if it does not exist.
 */
export async function findSource(source: string, path: string): Promise<Source> {
  const there = await lstat(path).catch(() => undefined)
  const isFollowed = there?.isSymbolicLink() === true && (isContentOf(source) || /[/\\]$/.test(source))
  const real = isFollowed ? await realpath(path).catch(() => path) : path
  const found = isFollowed ? await stat(path).catch(() => undefined) : there
  if (!found) throw new UserError(`\`${source}\` does not exist on this machine`)
  return { path: real, found, isContent: isContentOf(source) && found.isDirectory() }
}

/**
 * Asks a container whether it has `tar`, and whether the target is a folder. Without this check, a large archive sent
 * to a missing program would break the connection before an answer arrives.
 */
async function askTarget(at: CopiedContainer, target: string) {
  const script = 'test -d "$1"; folder=$?; command -v tar >/dev/null && exit $folder; exit $((folder + 2))'
  const done = await runThere(at, ['sh', '-c', script, 'sh', target], async remote => {
    remote.stdin.end()
    remote.stdout.resume()
  })
  if (!done) throw lacksPrograms(at.container, 'no shell, which copying into it needs')
  return { isThere: done.status === 0 || done.status === 2, hasTar: done.status < 2 }
}

async function copyFileIn(at: CopiedContainer, path: string, target: string, mode: number): Promise<TarCounts> {
  const counts: TarCounts = { files: 1, bytes: 0 }
  const script = 'cat >"$1" && chmod "$2" "$1"'
  const done = await runThere(at, ['sh', '-c', script, 'sh', target, mode.toString(8)], async remote => {
    const input = createReadStream(path)
    input.on('data', part => {
      counts.bytes += part.length
    })
    await sendAll(input, remote)
  })
  if (!done) throw lacksPrograms(at.container, 'neither `tar` nor a shell')
  requireSuccess(done, `\`${target}\` cannot be written in container \`${at.container}\``)
  return counts
}
