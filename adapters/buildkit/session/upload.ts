import { open, rename, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { temporaryPath } from '../../files/temporary-file.ts'
import type { IncomingCall } from './rpc-server.ts'

interface Bytes {
  readonly data?: Uint8Array
}

/** Writes the result that the builder exports (`moby.filesync.v1.FileSend`) to the file at `path`. */
export const receiveArchive = ({ requests }: IncomingCall<Bytes, Bytes>, path: string): Promise<void> =>
  writeWhole(path, dataOf(requests))

/** Yields the bytes that the messages contain. */
export async function* dataOf(messages: AsyncIterable<Bytes>): AsyncGenerator<Uint8Array> {
  for await (const { data } of messages) if (data) yield data
}

/** Writes a file, which gets its final name only when it is complete. */
export async function writeWhole(
  path: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const temporary = await temporaryPath(dirname(path), basename(path))
  try {
    const file = await open(temporary, 'wx')
    try {
      for await (const piece of pieces) await file.writeFile(piece)
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
