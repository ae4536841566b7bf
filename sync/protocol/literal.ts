import { deflate, inflate } from '../core/compress.ts'
import * as fields from '../core/fields.ts'
import type { FrameStream } from './frame-stream.ts'
import { FRAME_LIMITS, type Frame } from './frames.ts'

/**
 * Sends bytes of a large file, deflated if that makes them smaller. `taken` is called when the buffer is no longer
 * needed.
 */
export function sendLiteral(
  connection: FrameStream,
  id: number,
  bytes: Uint8Array,
  mayDeflate: boolean,
  taken: () => void,
): void {
  const small = mayDeflate ? deflate(bytes) : undefined
  if (small) {
    connection.send('part', { id, raw: bytes.length }, [small])
    taken()
  } else connection.send('part', { id }, [bytes], taken)
}

/**
 * Returns the original bytes of a message from `sendLiteral`, inflated if necessary. Throws an Error if they are not
 * valid.
 */
export const literal = (header: Frame['header'], body: Buffer): Buffer =>
  header['raw'] === undefined ? body : inflate(body, fields.count(header, 'raw'), FRAME_LIMITS.frame)
