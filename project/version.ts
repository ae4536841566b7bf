import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { embeddedFile } from '../adapters/files/embedded-file.ts'

/** Returns the version of devctl from its package.json, which the single executable contains. */
export function version(): string {
  const embedded = embeddedFile('package.json')
  return embedded ? JSON.parse(new TextDecoder().decode(embedded)).version : ownPackage().version
}

/**
 * Returns the folder of the npm package or of the cloned repository that devctl runs from; undefined in the single
 * executable.
 */
export const packageFolder = (): string | undefined => (embeddedFile('package.json') ? undefined : ownPackage().folder)

/** Returns the package nearest above this module, whether it runs from source, from dist or from a bundle. */
function ownPackage(): { readonly folder: string; readonly version: string } {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const found = readPackage(join(folder, 'package.json'))
    if (found?.name === 'devctl') return { folder, version: found.version }
    if (folder === dirname(folder)) throw new Error('no package.json of devctl above its own code')
  }
}

function readPackage(path: string): { name: string; version: string } | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}
