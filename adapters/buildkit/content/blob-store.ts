import { createHash } from 'node:crypto'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryPath } from '../../files/temporary-file.ts'

/** A folder of blobs in the OCI image layout: https://github.com/opencontainers/image-spec/blob/main/image-layout.md */
export interface BlobStore {
  readonly folder: string
  /** False if a builder may only read the blobs. */
  readonly isWritable: boolean
}

export interface BlobWriter {
  /** Returns the number of bytes written. */
  readonly size: () => number
  /** Returns the digest of the written bytes. */
  readonly digest: () => string
  readonly write: (data: Uint8Array) => Promise<void>
  /** Moves the completed blob to its final name. */
  readonly commit: () => Promise<void>
  /** Removes the blob if it was not committed. */
  readonly close: () => Promise<void>
}

const DIGEST = /^sha256:([0-9a-f]{64})$/

/** Returns the path of a blob; undefined if the digest is malformed or uses another algorithm. */
function pathOf({ folder }: BlobStore, digest: string): string | undefined {
  const hex = DIGEST.exec(digest)?.[1]
  return hex === undefined ? undefined : join(folder, 'blobs/sha256', hex)
}

/** Returns the size of a blob; undefined if it does not exist. */
export async function blobSize(store: BlobStore, digest: string): Promise<number | undefined> {
  const path = pathOf(store, digest)
  const stats = path === undefined ? undefined : await stat(path).catch(() => undefined)
  return stats?.isFile() ? stats.size : undefined
}

const PIECE = 1 << 20

/** Yields the bytes of an existing blob in chunks, each with its offset. */
export async function* readBlob(
  store: BlobStore,
  digest: string,
  from: number,
  size: number,
): AsyncGenerator<{ readonly offset: number; readonly data: Buffer }> {
  const file = await open(pathOf(store, digest)!)
  try {
    for (let offset = from; offset < from + size; ) {
      const buffer = Buffer.allocUnsafe(Math.min(PIECE, from + size - offset))
      const { bytesRead } = await file.read(buffer, 0, buffer.length, offset)
      if (bytesRead === 0) return
      yield { offset, data: buffer.subarray(0, bytesRead) }
      offset += bytesRead
    }
  } finally {
    await file.close()
  }
}

/** Starts writing a blob, which gets its final name only when it is complete. */
export async function writeBlob(store: BlobStore): Promise<BlobWriter> {
  const blobs = join(store.folder, 'blobs/sha256')
  const unfinished = join(store.folder, 'ingest')
  await Promise.all([mkdir(blobs, { recursive: true }), mkdir(unfinished, { recursive: true })])
  const temporary = await temporaryPath(unfinished, 'blob')
  const file = await open(temporary, 'wx')
  const hash = createHash('sha256')
  let size = 0
  let isOpen = true
  const digest = () => `sha256:${hash.copy().digest('hex')}`
  const closeFile = async () => {
    if (isOpen) await file.close()
    isOpen = false
  }
  return {
    size: () => size,
    digest,
    write: async data => {
      await file.writeFile(data)
      hash.update(data)
      size += data.length
    },
    commit: async () => {
      await closeFile()
      await rename(temporary, pathOf(store, digest())!)
    },
    close: async () => {
      await closeFile()
      await rm(temporary, { force: true })
    },
  }
}
