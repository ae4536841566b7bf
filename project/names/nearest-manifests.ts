import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { composeFileIn } from './environment-name.ts'

/** Names of a manifest, in order of precedence. */
export const MANIFEST_NAMES = ['devctl.yml', 'devctl.yaml', '.devctl/devctl.yml', '.devctl/devctl.yaml']

/**
 * Returns the manifests of the nearest folder that has any; empty if no folder has one, and undefined if a Compose file
 * is nearer. With `past`, Compose files are ignored.
 */
export function nearestManifests(from: string, past: boolean): readonly string[] | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = MANIFEST_NAMES.map(name => join(folder, name)).filter(path => existsSync(path))
    if (found.length > 0) return found
    if (!past && composeFileIn(folder) !== undefined) return undefined
    if (folder === dirname(folder)) return []
  }
}
