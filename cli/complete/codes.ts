import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from '../../project/version.ts'
import type { Suggestion } from './completion.ts'

/**
 * Returns the codes of `devctl explain` with the first sentence of each page. Reads docs/diagnostics instead of the
 * declarations of the codes, which are spread over the compiler and take long to load.
 */
export function codeCandidates(): readonly Suggestion[] {
  const own = packageFolder()
  if (own === undefined) return []
  const folder = join(own, 'docs/diagnostics')
  const pages = readdirSync(folder).map(name => readFileSync(join(folder, name), 'utf8'))
  const found = pages.flatMap(page => [...page.matchAll(/^## (\S+\/\S+)\n\*.*\*.*\n\n(.+)$/gm)])
  return found.map(([, value = '', text = '']) => ({
    value,
    description: /^.*?[.:](?= |$)/.exec(text)?.[0] ?? text,
  }))
}
