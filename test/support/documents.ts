import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { KubernetesObject } from '../../constructs/manifest.ts'
import type { Case } from './cases.ts'
import { expandLabels } from './standard-labels.ts'

/**
 * A document of `render`'s output: its text with the comment line, the object, and the file that `expected/` keeps it
 * in.
 */
export interface RenderedDocument {
  readonly file: string
  readonly text: string
  readonly object: KubernetesObject
}

/** Splits what `render` prints. Every text ends with a line end; a document without a kind and a name throws. */
export function documentsOf(output: string): readonly RenderedDocument[] {
  return output
    .split(/^---\n/m)
    .filter(text => text.trim() !== '')
    .map(text => {
      // The checks below are what makes this an object of Kubernetes.
      const object = parse(text) as KubernetesObject
      if (typeof object?.kind !== 'string' || typeof object.metadata?.name !== 'string')
        throw new Error(`no kind or name in:\n${text}`)
      return { file: `${object.kind.toLowerCase()}-${object.metadata.name}.yaml`, text, object }
    })
}

/**
 * Returns what a golden case expects of `render`, as `render` would print it; empty for a case that renders nothing.
 */
export function expectedDocuments({ directory }: Pick<Case, 'directory'>): readonly RenderedDocument[] {
  const expected = join(directory, 'expected')
  if (!existsSync(expected)) return []
  const files = readdirSync(expected).filter(file => file.endsWith('.yaml'))
  return files.sort().flatMap(file => documentsOf(expandLabels(readFileSync(join(expected, file), 'utf8'))))
}
