import { platform } from 'node:os'
import { resolve } from 'node:path'
import { readFile } from '../../adapters/files/read-file.ts'
import { statIfFound } from '../../adapters/files/stat-if-found.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { printable } from '../../compiler/values/printable.ts'
import type { Io } from '../terminal/io.ts'

/**
 * Returns the token from `--token` or `--token-file`, where `-` stands for standard input; undefined if neither is
 * given. Throws a UsageError if both are given.
 */
export async function givenToken(
  io: Io,
  { token, tokenFile }: { readonly token?: string | undefined; readonly tokenFile: string | undefined },
): Promise<string | undefined> {
  if (token !== undefined && tokenFile !== undefined)
    throw new UsageError('`--token` and `--token-file` cannot be combined', { hint: 'remove one of them' })
  if (tokenFile !== undefined) {
    const read = await readSecret(io, tokenFile, '--token-file')
    warnOfReaders(io, tokenFile)
    return read
  }
  return token === '-' ? readSecret(io, '-', '--token') : token
}

/**
 * Reads a secret from a file, or from standard input for `-`. A line break at the end is not part of it. Throws a
 * UserError if the file cannot be read or is empty.
 */
export async function readSecret(io: Io, path: string, option: string): Promise<string> {
  const secret = withoutLineBreak(path === '-' ? await io.readStdin() : bytesOf(resolve(io.cwd, path), path, option))
  if (secret === '')
    throw new UserError(`${path === '-' ? 'standard input' : `\`${path}\``} of \`${option}\` is empty`, {
      hint: 'is the variable or the file set from which it was written?',
    })
  io.secrets?.add([secret])
  return secret
}

/**
 * Warns if other users of the machine may read or write the file of a token. Does nothing on Windows, which has no such
 * file modes.
 */
function warnOfReaders({ cwd, stderr }: Io, path: string): void {
  if (path === '-' || platform() === 'win32') return
  const found = statIfFound(resolve(cwd, path))
  // A pipe (`<(…)`) ends with the command.
  if (!found?.isFile() || (found.mode & 0o077) === 0) return
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0')
  stderr.write(
    `warning: \`${printable(path)}\` of \`--token-file\` has mode ${mode}: other users of this machine can use the token\n  = help: run \`chmod 600 ${printable(path)}\`\n`,
  )
}

/** Maximum size of a file with a secret, in bytes. */
const MOST_BYTES = 65_536

/** Returns the text of bytes without a line break at its end. */
export const withoutLineBreak = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replace(/\r?\n$/, '')

function bytesOf(path: string, shown: string, option: string): Uint8Array {
  const content = readFile(path)
  switch (content.kind) {
    case 'file':
      if (content.bytes.length > MOST_BYTES)
        throw new UserError(`\`${shown}\` of \`${option}\` has ${content.bytes.length} bytes, more than a token has`)
      return content.bytes
    case 'missing':
      throw new UserError(`\`${shown}\` of \`${option}\` does not exist`)
    case 'folder':
      throw new UserError(`\`${shown}\` of \`${option}\` is a folder`)
    default:
      throw new UserError(`\`${shown}\` of \`${option}\` cannot be read: ${content.reason}`)
  }
}
