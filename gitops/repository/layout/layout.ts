import type { Manifest } from '../../../constructs/manifest.ts'
import { printStream } from '../../../constructs/yaml.ts'
import { kustomization, toFiles } from '../tree/files.ts'
import { KUSTOMIZATION } from './kustomization.ts'
import { type FileTexts, toOverlay } from './overlay.ts'
import { type ReadmeData, readme } from './readme.ts'

const README = 'README.md'
/** File with all objects of a folder, in the layout `single-file`. */
export const SINGLE_FILE = 'manifests.yaml'

/** Layout of a folder. An overlay also has the base that it was computed against, and the path to the base. */
export type Layout =
  | { readonly layout: 'plain' | 'single-file' }
  | { readonly layout: 'kustomize'; readonly base: readonly Manifest[]; readonly basePath: string }

/**
 * Returns the files of an environment's folder except the lock, sorted by path: the manifests, a kustomization that
 * lists them, and a README.
 */
export function layout(manifests: readonly Manifest[], options: Layout & { readonly about: ReadmeData }): FileTexts {
  const files = new Map(objectFiles(manifests, options))
  if (!files.has(KUSTOMIZATION)) files.set(KUSTOMIZATION, kustomization(files.keys()))
  files.set(README, readme(options.about, options.layout))
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function objectFiles(manifests: readonly Manifest[], options: Layout): FileTexts {
  switch (options.layout) {
    case 'plain':
      return toFiles(manifests, 'yaml')
    case 'single-file':
      // kustomize rejects a file without a document.
      return new Map(manifests.length > 0 ? [[SINGLE_FILE, printStream(manifests)]] : [])
    case 'kustomize':
      return toOverlay(options.base, manifests, options)
  }
}

/** Returns the path of an object's file in the folder of an environment. */
export function layoutPath(manifest: Manifest, layout: Layout['layout']): string {
  return layout === 'single-file' ? SINGLE_FILE : [...toFiles([manifest], 'yaml').keys()][0]!
}
