import { getRawAsset, isSea } from 'node:sea'

/**
 * Returns a file of the devctl package that is embedded in the single executable (scripts/executable). Undefined if the
 * executable does not contain the file, or if this program runs from a package, from a clone, or in the executable of
 * another program.
 */
export function embeddedFile(path: string): Uint8Array | undefined {
  if (!isSea()) return undefined
  try {
    const content = getRawAsset(`devctl/${path}`) as ArrayBuffer // never a string, whatever its declaration says
    // A write to the original would end the process.
    return new Uint8Array(content).slice()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SINGLE_EXECUTABLE_APPLICATION_ASSET_NOT_FOUND') return undefined
    throw error
  }
}
