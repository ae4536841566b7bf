import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { embeddedFile } from '../adapters/files/embedded-file.ts'

/**
 * Returns the version in the package.json nearest above this module, whether it runs from source, from dist or from a
 * bundle, or in that of the single executable.
 */
export function version(): string {
  const embedded = embeddedFile('package.json')
  if (embedded) return JSON.parse(new TextDecoder().decode(embedded)).version
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const found = readPackage(join(folder, 'package.json'))
    if (found?.name === 'devctl') return found.version
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
