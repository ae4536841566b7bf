import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'

const SAMPLE = 8 << 10
const WORTH_IT = 0.9
const OPTIONS = { level: constants.Z_BEST_SPEED }

/** Deflates the bytes if a sample of them becomes smaller; otherwise returns undefined. */
export function deflate(bytes: Uint8Array): Buffer | undefined {
  if (bytes.length < 512) return undefined
  if (bytes.length > 2 * SAMPLE) {
    const middle = (bytes.length - SAMPLE) >> 1
    if (deflateRawSync(bytes.subarray(middle, middle + SAMPLE), OPTIONS).length > SAMPLE * WORTH_IT) return undefined
  }
  const deflated = deflateRawSync(bytes, OPTIONS)
  return deflated.length < bytes.length * WORTH_IT ? deflated : undefined
}

/**
 * Inflates the bytes. Throws an Error if they are not a result of `deflate`, if the result does not have the announced
 * `size`, or if `size` exceeds `limit`. Both are in bytes.
 */
export function inflate(bytes: Uint8Array, size: number, limit: number): Buffer {
  if (size > limit) throw new Error('a message is too long')
  const inflated = inflateRawSync(bytes, { maxOutputLength: Math.max(1, size) })
  if (inflated.length !== size) throw new Error('a message has another length than it says')
  return inflated
}
