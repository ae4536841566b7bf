import { constants, open } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import type { BuildSecretSource } from '../../../compiler/values/images/build-spec.ts'

/** Contents of pipes such as `<(command)`: a pipe can be read only once, but builds may request the secret again. */
const read = new WeakMap<BuildSecretSource, Promise<Buffer>>()

/** Returns the content of a secret. Rejects with the error of reading its file. */
export async function secretContent(source: BuildSecretSource): Promise<Buffer> {
  if ('value' in source) return Buffer.from(source.value)
  if (!(await stat(source.file)).isFIFO()) return readFile(source.file)
  const content = read.get(source) ?? readPipe(source.file)
  read.set(source, content)
  return content
}

/**
 * Reads a pipe to its end. Reading it as a file would block a thread until a writer appears, and the process could not
 * even exit.
 */
async function readPipe(path: string): Promise<Buffer> {
  const fd = await promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return buffer(new Socket({ fd, readable: true, writable: false }))
}
