import { createWriteStream, rmSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/** Writes texts to a new zip file that only its owner can read. Throws a UserError if it cannot be written. */
export async function writeZip(
  path: string,
  files: readonly (readonly [path: string, text: string])[],
  time: Date,
): Promise<void> {
  const { ZipFile } = await import('yazl')
  const zip = new ZipFile()
  for (const [name, text] of files) zip.addBuffer(Buffer.from(text), name, { mtime: time, mode: 0o100600 })
  zip.end()
  try {
    await pipeline(zip.outputStream, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') rmSync(path, { force: true })
    throw new UserError(`cannot write \`${path}\`: ${code ?? (error as Error).message}`, {
      hint: 'run it in a folder that you can write to',
      cause: error,
    })
  }
}
