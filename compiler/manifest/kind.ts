import { suggest } from '../diagnostics/suggest.ts'

/** Keys that only one of the two has; `name` and `x-*` are in both. */
const MANIFEST = [
  'build',
  'context',
  'deploy',
  'dependencies',
  'destroy',
  'dev',
  'environments',
  'forward',
  'namespace',
]
const COMPOSE = [
  'configs',
  'endpoints',
  'include',
  'jobs',
  'models',
  'networks',
  'secrets',
  'services',
  'version',
  'volumes',
]

/** A key at the left margin. */
const BLOCK_KEY = /^(["']?)([A-Za-z_][\w-]*)\1[ \t]*:(?=\s|$)/gm
/**
 * The relevant tokens of a mapping in braces: quoted text, brackets, and words; each with the colon
 * that makes it a key.
 */
const FLOW_PART = /("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z_][\w-]*)(\s*:)?|[{}[\]]/g

/**
 * Decides whether a text is a manifest or a Compose file, so that its mistakes are reported as
 * those of the right one. Its top-level keys decide, also misspelt ones; if they are inconclusive,
 * the name of the file does. Does not parse: a file with a mistake in its YAML has a kind, too.
 */
export function kindOfFile(text: string, path: string): 'manifest' | 'compose' {
  const isFlow = /^\s*\{/.test(text.replace(/^(\s*#.*\n|---.*\n)+/, ''))
  let score = 0
  for (const key of isFlow ? flowKeys(text) : blockKeys(text)) {
    if (MANIFEST.includes(key)) score += 2
    else if (COMPOSE.includes(key)) score -= 2
    else if (key !== 'name' && suggest(key, MANIFEST)) score++
    else if (key !== 'name' && suggest(key, COMPOSE)) score--
  }
  if (score !== 0) return score > 0 ? 'manifest' : 'compose'
  return /devctl[^/]*\.ya?ml$/.test(path) && !/compose/.test(path) ? 'manifest' : 'compose'
}

function* blockKeys(text: string): Iterable<string> {
  for (const [, , key = ''] of text.matchAll(BLOCK_KEY)) yield key
}

/** The keys of a mapping in braces that fills the file, without those of mappings inside it. */
function* flowKeys(text: string): Iterable<string> {
  let depth = 0
  for (const [part, word, colon] of text.matchAll(FLOW_PART)) {
    if (part === '{' || part === '[') depth++
    else if (part === '}' || part === ']') depth--
    else if (word !== undefined && colon !== undefined && depth === 1) yield word.replace(/^["']|["']$/g, '')
  }
}
