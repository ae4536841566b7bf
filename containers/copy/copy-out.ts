import { lstat, open, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, posix } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { extractTar } from '../../adapters/tar/extract-tar.ts'
import { TarError } from '../../adapters/tar/read-tar.ts'
import type { TarCounts } from '../../adapters/tar/write-tar.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isContentOf } from './copy-path.ts'
import { type CopiedContainer, lacksPrograms, requireSuccess, runThere } from './remote.ts'

export interface CopyOut {
  /** Absolute path in the container. */
  readonly source: string
  /** Path on this machine as the user has written it; `path` is the absolute path. */
  readonly target: string
  readonly path: string
  /** Called with each entry that is not copied, and the reason. */
  readonly skipped: (name: string, reason: string) => void
}

/**
 * Copies a file or folder of a container to this machine, with the container's `tar` or, for a single file, its `cat`.
 * Writes nothing outside the target, whatever the container sends.
 */
export async function copyOut(at: CopiedContainer, { source, target, path, skipped }: CopyOut): Promise<TarCounts> {
  const isContent = isContentOf(source) || posix.normalize(source) === '/'
  const name = isContent ? '' : posix.basename(source)
  const place = await placeOf(target, path, name)
  const from = isContent ? [posix.normalize(source), '.'] : [posix.dirname(source), `./${name}`]
  const left: string[] = []
  const done = await runThere(at, ['tar', '-cf', '-', '-C', ...from], remote => {
    remote.stdin.end()
    const skip = (entry: string, reason: string) => {
      left.push(reason)
      skipped(entry, reason)
    }
    return extractTar({ archive: remote.stdout, name, target: place, skipped: skip }).catch(refuseArchive)
  })
  if (!done) return copyFileOut(at, source, place)
  requireSuccess(done, `\`tar\` of container \`${at.container}\` cannot read all of \`${source}\``)
  const counts = done.result!
  if (counts.files === 0 && left.length > 0 && !(await lstat(place).catch(() => undefined)))
    throw new UserError(`\`${source}\` is not copied: ${left[0]}`, { hint: 'copy what the link leads to' })
  return counts
}

/**
 * Returns the absolute path of the copy: `path` or, if `path` is a folder, `name` in this folder. Throws a UserError if
 * the folder of the copy does not exist.
 */
async function placeOf(target: string, path: string, name: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return join(path, name)
  if (!found && /[/\\]$/.test(target))
    throw new UserError(`the folder \`${target}\` does not exist`, {
      hint: 'create it, or leave out the slash at the end to give the copy this name',
    })
  if (!(await stat(dirname(path)).catch(() => undefined))?.isDirectory())
    throw new UserError(`the folder of \`${target}\` does not exist`, { hint: `create \`${dirname(target)}\`` })
  return path
}

function refuseArchive(error: unknown): never {
  if (!(error instanceof TarError)) throw error
  throw new UserError(`the archive that the container sends is refused: ${error.message}`, { cause: error })
}

async function copyFileOut(at: CopiedContainer, source: string, place: string): Promise<TarCounts> {
  const counts: TarCounts = { files: 1, bytes: 0 }
  const part = join(dirname(place), `.${basename(place)}.devctl-${process.pid}`)
  const file = await open(part, 'wx')
  const output = file.createWriteStream()
  try {
    const done = await runThere(at, ['cat', source], async remote => {
      remote.stdin.end()
      remote.stdout.on('data', (bytes: Buffer) => {
        counts.bytes += bytes.length
      })
      await pipeline(remote.stdout, output)
    })
    if (!done) throw lacksPrograms(at.container, 'neither `tar` nor `cat`')
    requireSuccess(done, `container \`${at.container}\` has no \`tar\`, and its \`cat\` cannot read \`${source}\``)
    const { rename } = await import('node:fs/promises')
    await rename(part, place)
    return counts
  } finally {
    output.destroy()
    await rm(part, { force: true })
  }
}
