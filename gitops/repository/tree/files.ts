import { createHash } from 'node:crypto'
import type { Manifest } from '../../../constructs/manifest.ts'
import { printDocument } from '../../../constructs/yaml.ts'
import { printKustomization } from '../layout/kustomization.ts'

/** Reserved device names of Windows, which are invalid in any folder. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/

/**
 * Maximum length of a file name; longer names are truncated. File systems allow 255 bytes, and some tools add long
 * prefixes.
 */
const LONGEST_NAME = 120

/**
 * Returns the files of an output folder, one for each object, sorted by path. The paths use `/`, such as
 * `web/deployment-web.yaml`.
 */
export function toFiles(
  manifests: readonly Manifest[],
  format: 'yaml' | 'json' | 'kustomize',
): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  const extension = format === 'json' ? 'json' : 'yaml'
  const taken = new Set<string>()
  for (const manifest of manifests) {
    const { kind, metadata } = manifest.object
    const folder = RESERVED.test(manifest.folder) ? `${manifest.folder}_` : manifest.folder
    const name = `${kind.toLowerCase()}-${metadata.name.replaceAll(/[^\w.-]/g, '_')}`
    let path = `${folder}/${shorten(name, metadata.name)}.${extension}`
    // Names that differ only in case are the same file on some systems.
    if (taken.has(path.toLowerCase())) path = `${folder}/${shorten(name, metadata.name, true)}.${extension}`
    if (taken.has(path.toLowerCase())) throw new Error(`two objects for ${path}`)
    taken.add(path.toLowerCase())
    files.set(path, format === 'json' ? `${JSON.stringify(manifest.object, undefined, 2)}\n` : printDocument(manifest))
  }
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Returns a kustomization that lists the files, so that `kubectl apply -k`, Flux and Argo CD accept the folder
 * unchanged.
 */
export function kustomization(paths: Iterable<string>): string {
  return printKustomization({ resources: [...paths].sort() })
}

function shorten(name: string, original: string, always = false): string {
  if (name.length <= LONGEST_NAME && !always) return name
  const hash = createHash('sha256').update(original).digest('hex').slice(0, 8)
  return `${name.slice(0, LONGEST_NAME - 9)}-${hash}`
}
