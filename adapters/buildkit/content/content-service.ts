import { ALREADY_EXISTS, CallError, FAILED_PRECONDITION, INVALID_ARGUMENT, NOT_FOUND } from '../session/call-error.ts'
import { type Handler, type IncomingCall, unary } from '../session/rpc-server.ts'
import { type BlobStore, type BlobWriter, blobSize, readBlob, writeBlob } from './blob-store.ts'

/** Name of the RPC header that selects the blob store for the RPC. */
const STORE = 'buildkit-attachable-store-id'

const WRITE = 1
const COMMIT = 2

interface ReadRequest {
  readonly digest?: string
  readonly offset?: number
  readonly size?: number
}

interface WriteRequest {
  /** Kind of the request. If absent, the request asks how much of the blob has been written. */
  readonly action?: number
  readonly total?: number
  readonly expected?: string
  readonly offset?: number
  readonly data?: Uint8Array
}

/**
 * Returns handlers that serve the blob stores under the builder's names for the stores. Through them, the builder reads
 * and writes caches and images (`containerd.services.content.v1.Content`). The methods that list, label and delete are
 * not implemented, because a build does not call them.
 */
export function contentHandlers(stores: ReadonlyMap<string, BlobStore>): Readonly<Record<string, Handler>> {
  const storeOf = ({ valuesOf }: Pick<IncomingCall<never, unknown>, 'valuesOf'>): BlobStore => {
    const store = stores.get(valuesOf(STORE)[0] ?? '')
    if (store) return store
    throw new CallError(NOT_FOUND, `the build has no store ${valuesOf(STORE)[0]}`)
  }
  return {
    Info: call => {
      const store = storeOf(call)
      return unary<{ digest?: string }>(async ({ digest = '' }) => ({
        info: { digest, size: await sizeOf(store, digest) },
      }))(call)
    },
    Read: call => read(call, storeOf(call)),
    // An interrupted blob is rewritten from the start.
    Status: unary<{ ref?: string }>(async ({ ref = '' }) => {
      throw new CallError(NOT_FOUND, `nothing was written of ${ref}`)
    }),
    Write: call => write(call, storeOf(call)),
  }
}

async function sizeOf(store: BlobStore, digest: string): Promise<number> {
  const size = await blobSize(store, digest)
  if (size !== undefined) return size
  throw new CallError(NOT_FOUND, `blob ${digest} is not in ${store.folder}`)
}

async function read({ requests, send }: IncomingCall<ReadRequest, unknown>, store: BlobStore): Promise<void> {
  for await (const { digest = '', offset = 0, size = 0 } of requests) {
    const total = await sizeOf(store, digest)
    if (offset < 0 || size < 0) throw new CallError(INVALID_ARGUMENT, 'a negative offset or size')
    const asked = size === 0 ? total - offset : Math.min(size, total - offset)
    for await (const piece of readBlob(store, digest, offset, asked)) await send(piece)
    return
  }
}

async function write({ requests, send }: IncomingCall<WriteRequest, unknown>, store: BlobStore): Promise<void> {
  if (!store.isWritable) throw new CallError(FAILED_PRECONDITION, `${store.folder} is only read`)
  const writer = await writeBlob(store)
  try {
    let expected = ''
    for await (const request of requests) {
      expected = request.expected || expected
      await refuseExisting(store, expected)
      const response = await take(writer, request, expected)
      await send(response)
      if (request.action === COMMIT) return
    }
  } finally {
    await writer.close()
  }
}

async function refuseExisting(store: BlobStore, digest: string): Promise<void> {
  if (digest === '' || (await blobSize(store, digest)) === undefined) return
  throw new CallError(ALREADY_EXISTS, `blob ${digest} is in ${store.folder} already`)
}

async function take(writer: BlobWriter, { action = 0, total = 0, offset = 0, data }: WriteRequest, expected: string) {
  if (action === WRITE || action === COMMIT) {
    if (offset !== writer.size()) throw new CallError(FAILED_PRECONDITION, `${offset} is not where the blob ends`)
    if (data && data.length > 0) await writer.write(data)
  }
  const response = { action, offset: writer.size(), total, digest: writer.digest() }
  if (action !== COMMIT) return response
  if ((total > 0 && total !== response.offset) || (expected !== '' && expected !== response.digest))
    throw new CallError(FAILED_PRECONDITION, `the blob is not ${expected} of ${total} bytes`)
  await writer.commit()
  return response
}
