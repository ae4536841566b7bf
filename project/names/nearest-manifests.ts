import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { composeFileIn } from './environment-name.ts'

/** Names of a manifest, in order of precedence. */
export const MANIFEST_NAMES = ['devctl.yml', 'devctl.yaml', '.devctl/devctl.yml', '.devctl/devctl.yaml']

/** Names of Okteto's manifests, in order of precedence. They are only used in a folder without a manifest of devctl. */
const OKTETO_NAMES = ['okteto', 'okteto-pipeline', 'okteto-pipelines']
  .flatMap(name => [name, `.okteto/${name}`])
  .flatMap(name => [`${name}.yml`, `${name}.yaml`])

/**
 * Returns the paths of the manifests in the nearest folder that has any: `from` or one of its parents. Returns an empty
 * list if no folder has one, and undefined if a folder with a Compose file is nearer. If `past` is true, Compose files
 * are ignored.
 */
export function nearestManifests(from: string, past: boolean): readonly string[] | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    for (const names of [MANIFEST_NAMES, OKTETO_NAMES]) {
      const found = names.map(name => join(folder, name)).filter(path => existsSync(path))
      if (found.length > 0) return found
    }
    if (!past && composeFileIn(folder) !== undefined) return undefined
    if (folder === dirname(folder)) return []
  }
}

/** Returns the Okteto manifest of a folder, as a path relative to it; undefined if it has none. */
export const oktetoManifestIn = (folder: string): string | undefined =>
  OKTETO_NAMES.find(name => existsSync(join(folder, name)))
