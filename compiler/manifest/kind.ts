import { suggest } from '../diagnostics/suggest.ts'
import { isOktetoManifest } from './okteto.ts'

/**
 * Top-level keys that exist only in manifests (`MANIFEST`) or only in Compose files (`COMPOSE`). `name` and `x-*` exist
 * in both.
 */
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

/** Matches a key at the start of a line. */
const BLOCK_KEY = /^(["']?)([A-Za-z_][\w-]*)\1[ \t]*:(?=\s|$)/gm
/**
 * Matches the relevant tokens of a mapping in braces: quoted text, words and brackets. If a colon makes a text or word
 * a key, the token includes the colon. A quote without an end extends to the end of the file; a search that began again
 * at each quote would take quadratic time.
 */
const FLOW_PART = /("(?:[^"\\]+|\\[\s\S]?)*(?:"|$)|'[^']*(?:'|$)|[A-Za-z_][\w-]*)(\s*:)?|[{}[\]]/g

/**
 * Decides if a file is a manifest or a Compose file, so that errors are reported for the right kind of file. The
 * top-level keys decide, including misspelled ones. If the keys are inconclusive, the name of the file decides. Does
 * not parse the text, so the function also works for files with YAML errors.
 */
export function kindOfFile(text: string, path: string): 'manifest' | 'compose' {
  // The first format of Okteto has keys that also occur in services, but no `services`.
  if (isOktetoManifest(path) && !/^["']?services["']?[ \t]*:/m.test(text)) return 'manifest'
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

/** Yields the top-level keys of a file that consists of a mapping in braces. Skips keys of nested mappings. */
function* flowKeys(text: string): Iterable<string> {
  let depth = 0
  for (const [part, word, colon] of text.matchAll(FLOW_PART)) {
    if (part === '{' || part === '[') depth++
    else if (part === '}' || part === ']') depth--
    else if (word !== undefined && colon !== undefined && depth === 1) yield word.replace(/^["']|["']$/g, '')
  }
}
