import { getRawAsset, isSea } from 'node:sea'

/**
 * Returns a file of the package that the single executable of devctl contains (scripts/executable); undefined if this
 * program runs from a package or a clone.
 */
export function embeddedFile(path: string): Uint8Array | undefined {
  return isSea() ? Buffer.from(getRawAsset(path) as ArrayBuffer) : undefined // a string only in older versions
}
