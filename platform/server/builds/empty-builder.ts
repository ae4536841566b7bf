import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2'
import { constants } from 'node:http2'
import { CallError, UNAVAILABLE } from '../../../adapters/buildkit/session/call-error.ts'
import { encodeMessage } from '../../../adapters/buildkit/wire.ts'
import { withTimeLimit } from '../../../adapters/process/time-limit.ts'
import { callOnce } from './grpc.ts'

const PRUNE = '/moby.buildkit.v1.Control/Prune'
/** Timeout for emptying a builder, in milliseconds. A full disk takes a while. */
const EMPTYING = 120_000

/**
 * Makes a builder delete everything that no build is using: layers, cache mounts and copied folders, including shared
 * ones. Throws a CallError; a builder that could not be emptied must not get a build.
 */
export async function emptyBuilder(link: ClientHttp2Session, signal: AbortSignal): Promise<void> {
  const call = callOnce(link, PRUNE, encodeMessage('moby.buildkit.v1.PruneRequest', { all: true }))
  const within = withTimeLimit(EMPTYING, signal)
  const stop = () => call.close(constants.NGHTTP2_CANCEL)
  within.addEventListener('abort', stop, { once: true })
  if (within.aborted) stop()
  const ended = new Promise<unknown>(resolve => {
    const note = (headers: IncomingHttpHeaders) => {
      if (headers['grpc-status'] !== undefined) resolve(headers['grpc-status'])
    }
    call.on('response', note)
    call.on('trailers', note)
    call.once('close', () => resolve(undefined))
  })
  // The response, a list of the pruned records, is not used.
  call.resume()
  const status = await ended
  within.removeEventListener('abort', stop)
  signal.throwIfAborted()
  if (String(status) !== '0') throw new CallError(UNAVAILABLE, 'the builder could not be emptied for this build')
}
