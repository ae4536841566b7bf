import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownPackage } from '../../project/version.ts'
import type { Suggestion } from './completion.ts'

/**
 * Returns the codes of `devctl explain` with the first sentence of each page. Reads docs/diagnostics.md, because the
 * codes are declared in all parts of the compiler, which takes long to load.
 */
export function codeCandidates(): readonly Suggestion[] {
  const pages = readFileSync(join(ownPackage().folder, 'docs/diagnostics.md'), 'utf8')
  const found = pages.matchAll(/^## (\S+\/\S+)\n\n\*.*\*\n\n(.+)$/gm)
  return [...found].map(([, value = '', text = '']) => ({
    value,
    description: /^.*?[.:](?= |$)/.exec(text)?.[0] ?? text,
  }))
}
