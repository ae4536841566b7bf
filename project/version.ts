import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Returns the version in the package.json of devctl. */
export function version(): string {
  return ownPackage().version
}

/**
 * Returns the folder and the version of devctl: of the package.json nearest above this module, whether it runs from
 * source, from dist or from a bundle.
 */
export function ownPackage(): { readonly folder: string; readonly version: string } {
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
